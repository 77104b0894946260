package operation

import (
	"context"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Call is one client's call of a declared operation. A stage that changes it changes a copy.
type Call struct {
	Request *http.Request
	// Match is the operation. Asked has the body when the match reads it; otherwise the body is
	// still in the request.
	Match routes.Match
	Asked mapping.Asked
	// Table has the other operations of the same version.
	Table *routes.Table
	// Path is the escaped path without the version.
	Path string
	// Prefix stands in front of every path in an answer: what handlers in front took from the
	// path, and the version.
	Prefix string
	// VersionPrefix is the part of Prefix that names the version, "" where the path does not.
	VersionPrefix string
	// MediaType is the one that the client asked for, "" for application/json.
	MediaType string
	// OnRequest, if not nil, changes what is sent to the API. OnAnswer, if not nil, sees the
	// header of the API's answer before it is translated.
	OnRequest func(*http.Request)
	OnAnswer  func(http.Header)
	// Access is the client's, nil without a guard in front.
	Access *token.Access
	// Permits says whether the guards in front would let the client use a method on a path as
	// clients write it. Nil: everything.
	Permits func(method, path string) bool
}

// Handler answers a call.
type Handler func(w http.ResponseWriter, c *Call) error

// Ask sends a request to the API and records the translated answer, of its body at most limit
// bytes. An error of the API, or of the gateway, is an answer in the form of the API. It may be
// called several times at once.
type Ask func(ctx context.Context, up mapping.Upstream, answer *answer.Answer, limit int) responsewriter.Reply

// Upstream returns the request that a match sends to the API. It does not ask for the vendor's
// media type, which the API does not know.
func (c *Call) Upstream(m routes.Match, asked mapping.Asked) (mapping.Upstream, *envelope.Refusal) {
	up, refused := m.Request(asked)
	if refused == nil && c.MediaType != "" && up.Set.Get("Accept") == "" {
		up.Set.Set("Accept", "application/json")
	}
	return up, refused
}

// Route leads to an API. It answers, or returns an error before it has answered.
type Route interface {
	ServeHTTP(w http.ResponseWriter, r *http.Request) error
}
