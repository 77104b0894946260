package restapi

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/pages"
)

// follow answers a page of a list that the API gives in parts.
func (h *REST) follow(w http.ResponseWriter, c *call, up mapping.Upstream) error {
	f := pages.Follower{MaxAnswers: h.follows, Unreadable: h.unreadable}
	return f.Serve(w, &c.Call, up, h.asker(c, c.Match))
}

// noteCut logs, once for each resource, that a list which is taken for whole has a length at
// which APIs cut lists.
func (h *REST) noteCut(answer *answer.Answer) {
	if path, n, ok := answer.MayBeCut(); ok {
		if _, known := h.cut.LoadOrStore(path, true); !known {
			h.log.Warn("`paginate local` takes this list for whole, and the API may have cut it at this length: write `complete when <pointer> <operator>` for what tells in its answer, and `cursor <parameter> <pointer>` if it leads on", "resource", path, "items", n)
		}
	}
}
