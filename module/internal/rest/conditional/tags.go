package conditional

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"

	"github.com/gatehouse/gatehouse/module/internal/rest/etag"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// maxTagged is how much of an answer is held to derive a tag from it, where the API gives none that is
// strong, or none that can be hidden. A longer answer has a weak tag if the API gives one that can be, and otherwise none.
const maxTagged = 256 << 10

// form names how tags are made, and is part of each. In form 1 short answers could have weak tags. A client that still has
// one must not be told with a 304 that it is valid, since If-Match with it never holds.
const form = "2"

// Tags answers the operations of resources that declare tags.
type Tags struct {
	// plans identify the translation of the answers of each operation that reads.
	plans map[*routes.Operation]string
	// demands says for each operation that changes whether the API is known to demand its weak tag.
	demands map[*routes.Operation]*atomic.Bool
	bodies  *request.Replayer
	maxBody int64
	keys    Keys
}

// Keys returns the gateway's keys.
type Keys func(context.Context) (*secret.Keys, error)

// Reader is how a resource is read before a conditional change of it.
type Reader struct {
	// Ask returns how the API is asked to carry out a match for a client.
	Ask func(*operation.Call, routes.Match) operation.Ask
	// Permit returns an error if the client may not know what the read finds. It refuses a change whose
	// condition has a tag: who can have tags compared can guess what they are made of.
	Permit func() error
	// Charge counts the read before it is made. Its error refuses the change.
	Charge func(http.ResponseWriter) error
}

// NewTags returns the tags for the operations of tables. Bodies of at most maxBody bytes are kept where a change may
// have to be sent again. keys is nil for a gateway without a secret.
func NewTags(tables []*routes.Table, maxBody int64, keys Keys) *Tags {
	t := &Tags{make(map[*routes.Operation]string), make(map[*routes.Operation]*atomic.Bool), request.NewReplayer(maxBody), maxBody, keys}
	for _, table := range tables {
		for _, o := range table.Operations() {
			switch {
			case !o.Resource.ETag:
			case o.Method == http.MethodGet:
				declared, _ := json.Marshal(o.Resource) // it came from JSON
				t.plans[o] = etag.Plan(form, o.Path, string(declared))
			default:
				t.demands[o] = new(atomic.Bool)
			}
		}
	}
	return t
}

// Handle puts tags and conditions around an operation of a resource that declares them.
func (t *Tags) Handle(o *routes.Operation, reader Reader, next operation.Handler) operation.Handler {
	if o.Method == http.MethodGet {
		return t.read(next)
	}
	return t.change(reader, next)
}

// maker returns how tags are made of those of the API. Those of a translated answer are hidden: they may be
// made of what the translation has removed.
func (t *Tags) maker(c *operation.Call, m routes.Match) (*etag.Maker, error) {
	if !m.Operation.Answers.Alters() {
		return &etag.Maker{Plan: t.plan(c, m)}, nil
	}
	k := &etag.Maker{Plan: t.plan(c, m), Hide: true}
	if t.keys == nil || m.Operation.Requests.ReadsByPost() { // which has no tag of the API's
		return k, nil
	}
	var err error
	if k.Keys, err = t.keys(c.Request.Context()); err != nil {
		return nil, envelope.Unavailable(err)
	}
	return k, nil
}

// plan identifies the translation of an answer for this client: the links in it are those that
// the client's scopes allow, and a cursor is the client's own. Where tags are hidden it identifies
// the resource, too: equal tags of two resources would show that they are equal, also in what is hidden.
func (t *Tags) plan(c *operation.Call, m routes.Match) string {
	o := m.Operation
	parts := []string{t.plans[o], c.Prefix, c.MediaType}
	if o.Answers.Alters() {
		parts = append(parts, etag.Plan(m.Values...))
	}
	if c.Access != nil && len(o.Resource.Links) > 0 {
		parts = append(parts, c.Access.Scopes...)
	}
	if c.Access != nil && o.Requests.ByCursor() {
		parts = append(parts, "cursor", c.Access.Client, c.Access.Subject)
	}
	return etag.Plan(parts...)
}

// withoutConditions returns the call without conditions and ranges: they are about the tags and
// bytes of translated answers, which the API does not know.
func withoutConditions(c *operation.Call) *operation.Call {
	bare := *c
	bare.Request = c.Request.WithContext(c.Request.Context())
	bare.Request.Header = c.Request.Header.Clone()
	for _, name := range etag.Fields {
		delete(bare.Request.Header, name)
	}
	bare.Asked.Header = bare.Request.Header
	return &bare
}
