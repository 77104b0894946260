package restapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/signin"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// supplied is the way to an upstream for one request, to which the gateway adds parameters of
// its own. The request that it is given keeps none of them.
type supplied struct {
	h  *REST
	to route
	// operation is the declared one, nil for a job's own request.
	operation  *routes.Operation
	fixed      []supply.Param // with placeholders
	as         string         // the form of a body that has to be made
	secrets    supply.Secrets // what no client may be told
	configured []string       // those of the configuration that are looked for in results of calls
	login      *signin.SignIn // nil: the gateway has no account there
	reveals    bool           // of the edition
}

// supply is the way to an upstream for an operation, nil for a job's own request, and the
// dialect in which its errors are read.
func (h *REST) supply(e *edition, o *routes.Operation, to route, dialect *envelope.Config) (route, *envelope.Config) {
	var fixed []supply.Param
	as, configured := "json", false
	if o != nil {
		fixed, as, configured = o.Requests.Supplied(), o.Requests.BodyForm(), o.Requests.CallsConfigured()
	} else {
		fixed = h.jobParams()
	}
	if len(fixed) == 0 && e.api.Login == nil && !configured {
		if o != nil && o.Requests.ByRPC() {
			to = &caller{h, o, to, nil}
		}
		return to, dialect
	}
	s := &supplied{h: h, to: to, operation: o, fixed: fixed, as: as, login: e.api.Login, reveals: e.api.Reveals}
	if o != nil && o.Requests.ByRPC() {
		s.to = &caller{h, o, to, s}
	}
	own := *dialect
	own.Withhold, own.SignedIn = s.secrets.In, s.login != nil
	return s, &own
}

// jobParams are the parameters that go with what a job of no resource sends.
func (h *REST) jobParams() (params []supply.Param) {
	for _, f := range h.Fixed {
		if len(f.Operations) == 0 {
			params = append(params, f.Param())
		}
	}
	return params
}

// jobBodyParams are the parameters that bodies of such jobs cannot have in an edition.
func (h *REST) jobBodyParams(e *edition) []supply.Param {
	if e.api.Login == nil {
		return h.jobParams()
	}
	return slices.Concat(h.jobParams(), e.account.Kept())
}

// ServeHTTP adds the parameters and goes on.
func (s *supplied) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	params, err := s.resolve(r)
	if err != nil {
		return err
	}
	if s.operation != nil && s.operation.Requests.CallsConfigured() {
		r = request.Copy(r)
		if err := s.fillCall(r); err != nil {
			return err
		}
	}
	if s.login != nil {
		return s.login.Serve(w, r, s, params)
	}
	q, c := request.Copy(r), conceal.New(s.reveals, nil, s.secrets.In)
	if err := s.Apply(q, c, params); err != nil {
		return err
	}
	return s.to.ServeHTTP(c.Writer(w), c.Request(q))
}

// AddSecret implements signin.Sender.
func (s *supplied) AddSecret(text string) { s.hide(text) }

// IsSecret implements signin.Sender.
func (s *supplied) IsSecret(text string) bool { return s.secrets.In(text) }

// Send implements signin.Sender.
func (s *supplied) Send(w http.ResponseWriter, r *http.Request) error { return s.to.ServeHTTP(w, r) }

// Apply writes parameters into a request, or into what is concealed of it.
func (s *supplied) Apply(q *http.Request, c *conceal.Values, params []supply.Param) error {
	if err := c.Apply(q, params, s.as); err != nil {
		return envelope.Fail(http.StatusBadRequest, "", "the body could not be read", err)
	}
	return nil
}

// resolve fills in the placeholders. A request whose parameters are not known is not sent.
func (s *supplied) resolve(r *http.Request) ([]supply.Param, error) {
	params := slices.Clone(s.fixed)
	if s.h.unresolved {
		return params, nil
	}
	for i := range params {
		p := &params[i]
		if !strings.Contains(p.Value, "{") {
			continue
		}
		written := p.Value
		var err error
		if p.Value, err = s.fill(r, written); err == nil {
			err = supply.CheckValue(*p)
		}
		if err != nil {
			return nil, envelope.Fail(http.StatusServiceUnavailable, "", "", fmt.Errorf("send fixed %s=%s: %w", p.Name, written, err))
		}
	}
	return params, nil
}

// hide notes a value that clients must not be told.
func (s *supplied) hide(value string) { s.secrets.Add(value) }

// withoutSecrets turns no address into the client's that has a value in it which clients must
// not be told: upstreams repeat the address they were asked at.
func withoutSecrets(to route, locate func(string) (string, bool)) func(string) (string, bool) {
	s, ok := to.(*supplied)
	if !ok {
		return locate
	}
	return func(location string) (string, bool) {
		at, ok := locate(location)
		if s.secrets.In(at) {
			return "", false
		}
		return at, ok
	}
}
