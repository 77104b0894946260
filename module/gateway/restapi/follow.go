package restapi

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/pages"
)

// follow answers a page of a list that the API gives in parts.
func (h *REST) follow(w http.ResponseWriter, c *call, up mapping.Upstream) error {
	f := pages.Follower{MaxAnswers: h.follows, Unreadable: h.exchanger.Unreadable}
	return f.Serve(w, &c.Call, up, h.asker(c, c.Match))
}
