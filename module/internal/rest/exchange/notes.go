package exchange

import (
	"errors"
	"net/http"
	"sync"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// settle answers a write that succeeded although the answer has no resource where one is declared,
// and logs that, unless nothing was declared and a fail_when has checked the text.
func (x *Exchanger) settle(to *translate.Writer, r *http.Request, answer *answer.Answer, dialect *envelope.Config) {
	judged := answer.ItemPointer() == "" && dialect.JudgesText(to.Header())
	f := to.Settle()
	if f == nil {
		return
	}
	note := "the answer to a write has no resource where one is declared"
	switch wrapped := errors.Is(f, splice.ErrWrapped); {
	case judged && !wrapped:
		return
	case wrapped:
		note = "the answer to a write was left out, since `drop`, `rename` or `values` would have missed the resource in it"
	case answer.ItemPointer() == "":
		note = "the answer to a write is not a JSON object, and was taken for a success by its status"
	}
	x.Untranslated(string(f.Kind))
	x.Log.Warn(note, "item", answer.ItemPointer(), "error", f.Err, "method", r.Method, "path", r.URL.Path)
}

// noteExceeded logs, once for each resource, that the API gave more items than it was asked for.
func (x *Exchanger) noteExceeded(answer *answer.Answer) {
	if path, ok := answer.Exceeded(); ok && isNew(&x.exceeded, path) {
		x.Log.Warn("the API gave more items than `limit` asked for, so it does not know the parameter: write its own name with `list { send limit <name> }`, or `list { paginate local }` if it always gives the whole list", "resource", path)
	}
}

// noteUnfollowed logs, once for each resource, that the API does not know the page that it was asked for.
func (x *Exchanger) noteUnfollowed(answer *answer.Answer) {
	if path, ok := answer.Unfollowed(); ok && isNew(&x.unfollowed, path) {
		x.Log.Warn("the API's answer has another position than `page` and `limit` asked for, or an offset and no page, so links to other pages are left out: write the parameters that it knows with `list { send page <name> }` or `list { send offset <name> }`, and `send limit <name>` and `max`", "resource", path)
	}
}

// noteCut logs, once for each resource, that a list which is taken for complete has a length at
// which APIs cut lists.
func (x *Exchanger) noteCut(answer *answer.Answer) {
	if path, n, ok := answer.MayBeCut(); ok && isNew(&x.cut, path) {
		x.Log.Warn("`paginate local` takes this list for whole, and the API may have cut it at this length: write `complete when <pointer> <operator>` for what tells in its answer, and `cursor <parameter> <pointer>` if it leads on", "resource", path, "items", n)
	}
}

func isNew(seen *sync.Map, path string) bool {
	_, known := seen.LoadOrStore(path, true)
	return !known
}
