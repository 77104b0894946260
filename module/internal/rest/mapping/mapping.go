package mapping

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Methods are the methods of operations and of requests to upstreams.
var Methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// Config declares one operation.
type Config struct {
	Kind     resource.Kind
	Route    resource.Route
	Pattern  pathpattern.Pattern // the client's path
	Resource *resource.Resource  // checked
	Names    *fieldnames.Names
	Rules    *validate.Set    // the constraints on bodies
	Charset  *charset.Charset // of the upstream; nil is UTF-8
	// AnswersTranslated says that bodies of answers are translated, AnswersExamined that they are read and may
	// pass unchanged. Both decide about header fields of requests.
	AnswersTranslated, AnswersExamined bool
	// ListLike says that no list is declared, and that answers that look like one become pages.
	ListLike bool
}

// Mapping maps the requests of one operation.
type Mapping struct {
	Config
	// TakesCookies says that the client's cookies reach the upstream.
	TakesCookies bool
	// Supplied are the parameters that the gateway sends, with placeholders in their values.
	Supplied []supply.Param

	text        encoder
	template    *pathpattern.Template
	known       []list.Name       // parameters that an operation without a declared list passes on
	upstream    string            // the upstream's method
	call        *rpc.Template     // parameters of a call by RPC; nil: the upstream is not called so
	placed      *compose.Template // members that the gateway places in the body; may be nil
	reserved    supply.Names      // names that clients must not use in the body
	inQuery     supply.Names      // those that clients must not use in the query
	inside      supply.Names      // names that clients must not use inside another member either
	addsToQuery bool              // the gateway adds parameters to the query, such as those of a sign-in
}

// New compiles the mapping of an operation.
func New(c Config) (m *Mapping, err error) {
	m = &Mapping{Config: c, upstream: cmp.Or(c.Route.UpstreamMethod, c.Route.Method), text: encoder{c.Charset, c.Names, c.Resource}}
	m.TakesCookies, _ = resource.Cookies(c.Resource.HeaderUp) // checked
	m.known = c.parameters()
	if c.Kind == resource.Batch {
		return m, nil // its items are requests of another operation
	}
	if !slices.Contains(Methods, m.upstream) {
		return nil, fmt.Errorf("the upstream's method %q: expected %s", m.upstream, strings.Join(Methods, ", "))
	}
	if err := m.compileBody(); err != nil {
		return nil, err
	}
	if m.template, err = pathpattern.ParseTemplate(c.Route.Upstream, c.Pattern.Names); err != nil {
		return nil, err
	}
	word := "query"
	if m.Kind == resource.List {
		word = "list"
	}
	if err := m.template.CheckParametersFree(word, m.upstreamParameters()); err != nil {
		return nil, err
	}
	if err := m.compileFixed(); err != nil {
		return nil, err
	}
	return m, checkPlaced(m)
}

// compileBody compiles how the body is sent.
func (m *Mapping) compileBody() error {
	r := m.Route
	switch r.As {
	case "", "form", "json", "multipart", "xml":
	default:
		return fmt.Errorf("as %s: expected form, json, multipart or xml", r.As)
	}
	if err := r.CheckXML(); err != nil {
		return err
	}
	if err := m.compileCall(); err != nil {
		return err
	}
	if err := checkAs(m); err != nil {
		return err
	}
	if r.As != "" && r.As != "json" && m.Charset.Wide() {
		return fmt.Errorf("as %s: it is not sent in %s, expected json or another charset", r.As, m.Charset.Name())
	}
	return compilePlaced(m)
}

// Unmap returns the values of the placeholders in an upstream's address.
func (m *Mapping) Unmap(path string, query url.Values) ([]string, bool) {
	if m.template == nil || m.call != nil {
		return nil, false
	}
	values, ok := m.template.Unfill(path, query, m.text.decodeValue)
	return values, ok && m.Pattern.Accepts(values)
}

// AddressKey returns the [pathpattern.Template.Key] of the upstream's address. It reports false if Unmap finds no
// values for any address.
func (m *Mapping) AddressKey() (string, bool) {
	if m.template == nil || m.call != nil {
		return "", false
	}
	return m.template.Key(), true
}

// ReadsByPost reports whether the operation reads with a POST to the upstream. Validators, conditions and ranges then
// mean nothing to the upstream (RFC 9110 defines them for GET), and a matching If-None-Match would cause a 412.
func (m *Mapping) ReadsByPost() bool {
	return m.Route.Method == http.MethodGet && m.upstream != http.MethodGet
}

// readsByBody reports whether the parameters of a read are sent in a body.
func (m *Mapping) readsByBody() bool { return m.Route.Method == http.MethodGet && m.Route.As != "" }

// rewrites reports whether bodies are checked or changed.
func (m *Mapping) rewrites() bool {
	return m.Names.ChangeBodies() || len(m.Resource.Validate) > 0 || m.Resource.Schema != nil || len(m.Resource.Lift) > 0 || m.Resource.Wrap != ""
}

// DropsBody reports whether the client's body is not sent: it has no meaning there, and some upstreams read it.
func (m *Mapping) DropsBody() bool {
	return (m.Kind == resource.List || m.Kind == resource.Read || m.Kind == resource.Delete) && !m.ReadsBody()
}

// ReadsBody reports whether the gateway must read the body before it can send the request.
func (m *Mapping) ReadsBody() bool {
	switch m.Kind {
	case resource.Batch:
		return true
	case resource.Create, resource.Replace, resource.Update, resource.Action:
		return m.Route.As != "" || m.call != nil || len(m.reserved) > 0 || m.rewrites() || m.Kind == resource.Replace && len(m.Resource.Replace) > 0
	case resource.Delete:
		return m.Route.As != "" // otherwise no body is sent: some upstreams take it for another request
	}
	return false
}
