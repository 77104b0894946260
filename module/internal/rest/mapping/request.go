package mapping

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Asked is a client's request, without method and path.
type Asked struct {
	RawQuery string
	Header   http.Header
	// Body is set if the Mapping ReadsBody.
	Body []byte
	// JobQuery is the query of a job's address, to which the body is sent instead of the operation's; "" without a job.
	JobQuery string
	// Sealer seals and opens cursors. Operations that are ByCursor need it.
	Sealer list.Sealer
	// Effort is what several bodies of one request share. Nil: there is one body.
	Effort *validate.Effort
	// Caller is whose body it is.
	Caller turns.Caller
}

// Upstream is a request to send to the upstream.
type Upstream struct {
	Method   string
	Path     string // escaped
	RawQuery string
	// Set has header fields that replace the client's; those with a nil value are removed.
	Set http.Header
	// Body replaces the client's when Replaced.
	Body     []byte
	Replaced bool
	// List is what the client asks of a list.
	List *list.Query
	// Sealer seals the cursors of the list in Bound. Nil: the list has no cursors.
	Sealer list.Sealer
	Bound  []byte

	parameters url.Values // sent in the body, of a call by RPC or a read
}

// request is a client's request on its way to the upstream.
type request struct {
	*Mapping
	values []string // of the path's placeholders, decoded
}

// unconditional are the client's header fields that a read by POST must not have.
var unconditional = slices.Concat(httpx.RangeFields, []string{"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"})

// untranslated are those that do not fit an answer that is translated.
var untranslated = slices.Concat(httpx.RangeFields, []string{"If-None-Match", "If-Modified-Since", "Te"})

// Request maps a request, with the decoded values of its path, or refuses it.
func (m *Mapping) Request(values []string, a Asked) (up Upstream, refused *envelope.Refusal) {
	req := request{m, values}
	up.Method, up.Set = m.upstream, make(http.Header)
	encoded, ok := m.text.encodeValues(values)
	if !ok || m.template.EndsQuotes(encoded) || m.placed != nil && m.placed.EndsQuotes(encoded) {
		return up, envelope.Refuse(http.StatusNotFound, "")
	}
	up.Path, up.RawQuery = m.template.Fill(encoded)
	asked, err := url.ParseQuery(a.RawQuery)
	if err != nil {
		return up, envelope.Refuse(http.StatusBadRequest, "the query cannot be read")
	}
	if refused := req.buildQuery(&up, a, asked); refused != nil {
		return up, refused
	}
	m.setHeader(&up)
	switch {
	case m.call != nil:
		return up, req.buildCall(&up, a)
	case m.readsByBody():
		return up, req.buildReadBody(&up)
	case m.ReadsBody():
		up.Replaced = true
		up.Body, refused = req.buildBody(a, strings.Trim(up.RawQuery+"&"+a.JobQuery, "&"), up.Set)
	case m.DropsBody():
		up.Replaced = true
		up.Set["Content-Type"], up.Set["Content-Encoding"] = nil, nil
	}
	return up, refused
}

// addQuery appends parameters to those of the address.
func (up *Upstream) addQuery(own url.Values) {
	if len(own) == 0 {
		return
	}
	if up.RawQuery != "" {
		up.RawQuery += "&"
	}
	up.RawQuery += pathpattern.EncodeQuery(own)
}

// setHeader sets the header fields that differ from the client's.
func (m *Mapping) setHeader(up *Upstream) {
	if m.ReadsByPost() {
		for _, name := range unconditional {
			up.Set[name] = nil
		}
	}
	if !m.TakesCookies {
		up.Set["Cookie"] = nil // it belongs to the pages of the API's host, and would authenticate whatever a browser sends
	}
	if m.Route.Override {
		up.Set.Set("X-HTTP-Method-Override", m.Route.Method)
	}
	if m.AnswersTranslated || m.call != nil {
		// A compressed answer would be decompressed at once, a partial one could not be read, and the
		// upstream's validators are not those of what the client has.
		up.Set.Set("Accept-Encoding", "identity")
		up.Set.Set("Accept", "application/json")
		if m.Resource.FromXML != nil {
			up.Set.Set("Accept", "application/xml, text/xml;q=0.9, application/json;q=0.8")
		}
		for _, name := range untranslated {
			up.Set[name] = nil
		}
		if m.Route.Method == http.MethodGet { // those of a change are checked before
			up.Set["If-Match"], up.Set["If-Unmodified-Since"] = nil, nil
		}
		return
	}
	if m.AnswersExamined || m.Resource.ETag && m.Route.Method == http.MethodGet {
		// Answers that may be read should be neither compressed nor partial. Nor should those that a tag is made
		// of: the reads before a change are not compressed as the client's reads are.
		up.Set.Set("Accept-Encoding", "identity")
		for _, name := range httpx.RangeFields {
			up.Set[name] = nil
		}
	}
}
