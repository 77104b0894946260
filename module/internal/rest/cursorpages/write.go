package cursorpages

import (
	"net/http"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/headers"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// copyFields gives the client the API's header fields that pass and are not about the content
// of one answer.
func copyFields(h, theirs http.Header, m routes.Match) {
	for name, values := range theirs {
		switch name {
		case "Content-Length", "Content-Location", "Last-Modified", "Location", "Age", "Date", "Trailer", "Transfer-Encoding":
			continue
		}
		if m.Operation.Answers.Shape.Fields.Passes(name, headers.Answer{Status: http.StatusOK}) {
			h[name] = values
		}
	}
}

// writeFailure gives the client a failure of the API, which is in the form of the gateway's
// errors already.
func writeFailure(w http.ResponseWriter, m routes.Match, got responsewriter.Reply) error {
	copyFields(w.Header(), got.Header, m)
	if len(got.Header["Www-Authenticate"]) > 0 { // the API knows its callers
		w.Header()["Www-Authenticate"] = got.Header["Www-Authenticate"]
	}
	w.WriteHeader(got.Status)
	_, _ = w.Write(got.Body) // fails only when the client has gone
	return nil
}

// write gives the client the page.
func (l *collected) write(w http.ResponseWriter, c *operation.Call, q *list.Query, caller answer.Caller) error {
	seen := list.Seen{Elements: -1}
	if l.ended {
		seen.Elements = l.seen
		if l.whole {
			seen.Total = &l.seen
		}
	}
	body := append(append([]byte(`{"data":[`), l.items...), `],"pagination":`...)
	body = append(q.Pagination(body, seen.Total), '}')
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if c.MediaType != "" {
		h.Set("Content-Type", c.MediaType)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Link", q.LinkHeader(c.Prefix+c.Match.Address(), caller.Query, seen))
	w.WriteHeader(http.StatusOK)
	if c.Request.Method != http.MethodHead {
		_, _ = w.Write(body) // fails only when the client has gone
	}
	return nil
}
