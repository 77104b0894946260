package resource

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// Asked is what a client's request brings besides method and path.
type Asked struct {
	RawQuery string
	Header   http.Header
	// Body has been read when the match Reads it.
	Body []byte
	// Sealer makes and opens cursors; it is needed for operations that are ByCursor.
	Sealer list.Sealer
}

// Upstream is the request to send.
type Upstream struct {
	Method   string
	Path     string // escaped
	RawQuery string
	// Set are fields that replace the client's; those with a nil value are removed.
	Set http.Header
	// Body replaces the client's when Replaced.
	Body     []byte
	Replaced bool
	// List is what is asked of a list.
	List *list.Query

	parameters url.Values // of a call by RPC or a read that has them in its body
	sealer     list.Sealer
	bound      []byte // what cursors of the list belong to
}

// overrides are fields by which frameworks let a request stand for one of another method,
// and some servers for one of another path.
var overrides = map[string]bool{
	"x-http-method-override": true, "x-http-method": true, "x-method-override": true, "x-original-url": true, "x-rewrite-url": true,
}

// Overrides reports whether a field could make another request of the one it comes with.
// Nobody but the gateway says what a request is.
func Overrides(name string) bool { return overrides[plainly(name)] }

// plainly is a field's name as it is for CGI and its kin, to which other signs are all
// the same.
func plainly(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'A' <= c && c <= 'Z':
			return c | 0x20
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			return c
		}
		return '-'
	}, name)
}

// Reads reports whether the body must be known before anything can be sent.
func (m Match) Reads() bool {
	o := m.Operation
	switch o.Kind {
	case Batch:
		return true
	case Create, Replace, Update, Action:
		return o.as != "" || o.call != nil || len(o.reserved) > 0 || o.shape.rewrites() || o.Kind == Replace && len(o.Resource.Replace) > 0
	case Delete:
		return o.as != "" // otherwise it is not sent: some upstreams take it for another request
	}
	return false
}

func (s *shape) rewrites() bool {
	return len(s.names) > 0 || len(s.words) > 0 || len(s.config.Validate) > 0 || s.config.Schema != nil || len(s.config.Lift) > 0 || s.config.Wrap != ""
}

// Request makes the upstream's request, or refuses what the client asks.
func (m Match) Request(a Asked) (up Upstream, refused *envelope.Refusal) {
	o := m.Operation
	up.Method, up.Set = o.method, make(http.Header)
	values, ok := o.shape.encodeValues(m.Values)
	if !ok {
		return up, envelope.Refuse(http.StatusNotFound, "")
	}
	up.Path, up.RawQuery = o.template.Fill(values)
	asked, err := url.ParseQuery(a.RawQuery)
	if err != nil {
		return up, envelope.Refuse(http.StatusBadRequest, "the query cannot be read")
	}
	if refused := m.query(&up, a, asked); refused != nil {
		return up, refused
	}
	m.header(&up)
	switch {
	case o.call != nil:
		return up, m.callRPC(&up, a)
	case o.readsByBody():
		return up, m.ask(&up)
	case m.Reads():
		up.Body, up.Replaced = nil, true
		up.Body, refused = m.body(a, up.RawQuery, up.Set)
	case o.Kind == List || o.Kind == Read || o.Kind == Delete:
		up.Replaced = true // a body has no meaning there, and some upstreams read it
		up.Set["Content-Type"], up.Set["Content-Encoding"] = nil, nil
	}
	return up, refused
}

func (m Match) query(up *Upstream, a Asked, asked url.Values) *envelope.Refusal {
	if m.Operation.Kind == List {
		q, refused := m.Operation.Resource.List.Parse(asked)
		if refused != nil {
			return refused
		}
		up.List = &q
		if refused := m.seek(up, a, asked); refused != nil {
			return refused
		}
		own := make(url.Values)
		q.Send(own)
		if m.Operation.call != nil || m.Operation.readsByBody() {
			up.parameters = own
			return nil
		}
		own, refused = m.Operation.shape.encodeQuery(own)
		up.addQuery(own)
		return refused
	}
	own, refused := m.Operation.passOn(asked)
	if m.Operation.call != nil {
		if refused != nil {
			return refused
		}
		up.parameters = own
		return m.Operation.sendsQuery(own)
	}
	if m.Operation.readsByBody() {
		up.parameters = own
		return refused
	}
	if refused == nil {
		own, refused = m.Operation.shape.encodeQuery(own)
	}
	up.addQuery(own)
	return refused
}

func (up *Upstream) addQuery(own url.Values) {
	if len(own) == 0 {
		return
	}
	if up.RawQuery != "" {
		up.RawQuery += "&"
	}
	up.RawQuery += own.Encode()
}

func (m Match) header(up *Upstream) {
	if m.Operation.ReadsByPost() {
		for _, name := range unconditional {
			up.Set[name] = nil
		}
	}
	if !m.Operation.shape.cookies {
		up.Set["Cookie"] = nil // it is for the pages of the API's host, and would authenticate whatever a browser sends
	}
	if m.Operation.override {
		up.Set.Set("X-HTTP-Method-Override", m.Operation.Method)
	}
	if m.Translates() || m.Operation.call != nil {
		// Compressed it would be undone at once; a part of it could not be read; and the
		// upstream's validators are not those of what the client has.
		up.Set.Set("Accept-Encoding", "identity")
		up.Set.Set("Accept", "application/json")
		if m.Operation.Resource.FromXML != nil {
			up.Set.Set("Accept", "application/xml, text/xml;q=0.9, application/json;q=0.8")
		}
		for _, name := range []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since", "Te"} {
			up.Set[name] = nil
		}
		return
	}
	if m.Operation.usual != nil || m.Operation.look != nil {
		// What may be read had better not be compressed, nor be a part.
		up.Set.Set("Accept-Encoding", "identity")
		up.Set["Range"], up.Set["If-Range"] = nil, nil
	}
}
