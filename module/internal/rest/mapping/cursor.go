package mapping

import (
	"encoding/json"
	"net/url"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// ByCursor reports whether clients page through the list with cursors, so that Asked needs a Sealer.
func (m *Mapping) ByCursor() bool { return m.Kind == resource.List && m.Resource.List.ByCursor() }

// cursorScope returns what a cursor is bound to: the declared list, its parents, and the client's other parameters. It
// is invalid anywhere else.
func (req request) cursorScope(q *list.Query, asked url.Values) []byte {
	parts := []string{req.op.Pattern.Text, req.op.upstream, req.op.template.Text, q.Bound(asked)}
	if req.op.placed != nil {
		for _, member := range req.op.placed.Members() {
			parts = append(parts, member.Name, member.Value)
		}
	}
	for _, c := range req.op.Resource.List.Cursors {
		parts = append(parts, c.Parameter, c.Pointer)
	}
	bound, _ := json.Marshal(append(parts, req.values...)) // strings always encode
	return bound
}

// seekCursor moves the query of a list to the page of the client's cursor.
func (req request) seekCursor(up *Upstream, a Asked, asked url.Values) *envelope.Refusal {
	if !req.op.ByCursor() || a.Sealer == nil {
		return nil
	}
	bound := req.cursorScope(up.List, asked)
	up.Sealer, up.Bound = a.Sealer, bound
	return up.List.Seek(a.Sealer, bound)
}
