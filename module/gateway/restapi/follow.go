package restapi

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/headers"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// One request for a page of a list that is followed makes several to the upstream. No further
// one is made beyond these bounds.
const (
	followPages = 50
	followBytes = 16 << 20
	followTime  = 20 * time.Second
	// followBody is how much the elements of the page itself may take.
	followBody = 8 << 20
)

var (
	errCircle = errors.New("the cursor of the answer leads to the same answer again")
	errNoList = errors.New("the answer has no list")
	errLong   = fmt.Errorf("the page has more than %d bytes", followBody)
)

// followed is a list, as far as it was followed.
type followed struct {
	items []byte // of the page, separated by commas
	seen  int64  // elements
	read  int64  // bytes
	ended bool   // there is no more
	whole bool   // and nothing is missing
}

// follow answers a page of a list that the upstream gives by cursors: it asks for one answer
// after the other, and keeps the elements of the page.
func (h *REST) follow(w http.ResponseWriter, c *call, m routes.Match, up mapping.Upstream, asked mapping.Asked) error {
	query, _ := url.ParseQuery(asked.RawQuery) // Request has read it
	caller := answer.Caller{Prefix: c.prefix, Query: query, Allowed: handler.Permits(c.r)}
	q, first, begun := up.List, up, time.Now()
	skip, take := q.Window()
	var all followed
	var header http.Header
	var last map[string]string
	to, dialect := h.supply(c.edition, m.Operation, c.handler(), c.dialects[m.Operation])
	personal := false
	for n := 0; !all.ended && n < h.follows && all.read < followBytes && (n == 0 || time.Since(begun) < followTime); n++ {
		from := max(int64(skip)-all.seen, 0)
		room := max(int64(skip)+int64(take)-max(all.seen, int64(skip)), 0)
		answer, portion := m.Operation.Answers.NewPortion(m.Values, caller, int(from), int(room))
		personal = answer.Personal()
		got := h.alone(c.r.Context(), to, c.r, up, answer, dialect, followBody)
		switch {
		case got.Status >= http.StatusBadRequest:
			return relay(w, m, got)
		case got.Cut:
			return h.unreadable(&translate.Failure{Kind: translate.Bomb, Err: errLong})
		case portion.Bytes == 0:
			return h.unreadable(&translate.Failure{Kind: translate.Missing, Err: errNoList})
		case portion.Err != nil:
			return h.unreadable(&translate.Failure{Kind: translate.Cursor, Err: portion.Err})
		case portion.Next != nil && maps.Equal(portion.Next, last):
			return h.unreadable(&translate.Failure{Kind: translate.Cursor, Err: errCircle})
		}
		if header == nil {
			header = got.Header
		}
		if all.add(got.Body, portion); len(all.items) > followBody {
			return h.unreadable(&translate.Failure{Kind: translate.Bomb, Err: errLong})
		}
		last = portion.Next
		next, refused := m.Operation.Requests.Next(m.Values, first, portion.Next)
		if refused != nil {
			return h.unreadable(&translate.Failure{Kind: translate.Cursor, Err: refused})
		}
		up = next
	}
	if !all.ended && all.seen <= int64(skip) {
		return envelope.Invalid("page", "must be a page of the first "+strconv.FormatInt(all.seen, 10)+" items: no more of this list is read, ask for less of it")
	}
	leave(w.Header(), header, m)
	if personal {
		w.Header().Add("Vary", "Authorization")
	}
	return all.write(w, c, m, q, caller)
}

// leave gives a client's answer the fields of an upstream's that pass and that are not about
// its content.
func leave(h, theirs http.Header, m routes.Match) {
	for name, values := range theirs {
		switch name {
		case "Content-Length", "Content-Location", "Last-Modified", "Location", "Age", "Date", "Trailer", "Transfer-Encoding":
			continue // of one answer alone
		}
		if m.Operation.Answers.Fields().Passes(name, headers.Answer{Status: http.StatusOK}) {
			h[name] = values
		}
	}
}

// add takes in one answer, an array.
func (f *followed) add(body []byte, p *answer.Portion) {
	body = bytes.TrimSpace(body)
	if len(body) >= 2 {
		body = bytes.TrimSpace(body[1 : len(body)-1])
	}
	if len(body) > 0 {
		if len(f.items) > 0 {
			f.items = append(f.items, ',')
		}
		f.items = append(f.items, body...)
	}
	f.seen += p.Elements
	f.read += p.Bytes
	f.ended, f.whole = p.Next == nil, p.Complete
}

// relay gives the client a failure of the upstream, in our form already.
func relay(w http.ResponseWriter, m routes.Match, got responsewriter.Reply) error {
	leave(w.Header(), got.Header, m)
	if len(got.Header["Www-Authenticate"]) > 0 { // the API knows its callers
		w.Header()["Www-Authenticate"] = got.Header["Www-Authenticate"]
	}
	w.WriteHeader(got.Status)
	_, _ = w.Write(got.Body) // a client that has gone is not told
	return nil
}

// write gives the client the page.
func (f *followed) write(w http.ResponseWriter, c *call, m routes.Match, q *list.Query, caller answer.Caller) error {
	seen := list.Seen{Elements: -1}
	if f.ended {
		seen.Elements = f.seen
		if f.whole {
			seen.Total = &f.seen
		}
	}
	body := append(append([]byte(`{"data":[`), f.items...), `],"pagination":`...)
	body = append(q.Pagination(body, seen.Total), '}')
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if c.choice.MediaType != "" {
		h.Set("Content-Type", c.choice.MediaType)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Link", q.LinkHeader(c.prefix+m.Address(), caller.Query, seen))
	w.WriteHeader(http.StatusOK)
	if c.r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that has gone is not told
	}
	return nil
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
