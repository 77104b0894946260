package upstream

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/internal/rest/signin"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// Config is what all APIs of a handler have in common.
type Config struct {
	// Replace fills in the placeholders of a text for a request. It calls value for each of them,
	// and fails if that does.
	Replace func(r *http.Request, text string, value func(name, value string) error) (string, error)
	// KeepPlaceholders leaves placeholders as they are: nothing is sent to an API.
	KeepPlaceholders bool
	// Unreadable makes an error of an answer that cannot be translated.
	Unreadable func(*translate.Failure) error
}

// API is one API.
type API struct {
	*Config
	// Login is how the gateway signs in. Nil: it has no account there.
	Login *signin.SignIn
	// Reveals says whether the proxies in the route to the API send what is concealed.
	Reveals bool
}

// Route returns the way to the API for an operation, and the dialect in which its errors are
// read. to leads to the API. o is nil for a job's own request, which has the parameters params.
// The route is for one client's request, or for several requests made on behalf of it.
func (a *API) Route(o *routes.Operation, params []supply.Param, to operation.Route, dialect *envelope.Config) (operation.Route, *envelope.Config) {
	as, configured := "json", false
	if o != nil {
		params, as, configured = o.Requests.Supplied, o.Requests.BodyForm(), o.Requests.CallsConfigured()
	}
	if len(params) == 0 && a.Login == nil && !configured {
		if o != nil && o.Requests.ByRPC() {
			to = &rpcCaller{a.Unreadable, o, to, nil}
		}
		return to, dialect
	}
	s := &supplier{API: a, to: to, operation: o, params: params, as: as}
	if o != nil && o.Requests.ByRPC() {
		s.to = &rpcCaller{a.Unreadable, o, to, s}
	}
	own := *dialect
	own.Withhold, own.SignedIn = s.secrets.InMessage, a.Login != nil
	return s, &own
}

// Secret returns a function that reports texts which clients must not be told, as far as they
// are known when it is called. It is nil for a route that adds nothing to requests.
func Secret(to operation.Route) func(text string) bool {
	if s, ok := to.(*supplier); ok {
		return s.IsSecret
	}
	return nil
}

// WithoutSecrets returns a locator that drops addresses with a text that clients must not be told:
// APIs repeat the address that they were asked at.
func WithoutSecrets(to operation.Route, locate translate.Locate) translate.Locate {
	secret := Secret(to)
	if secret == nil {
		return locate
	}
	return func(location string, u translate.Use) (string, bool) {
		at, ok := locate(location, u)
		if secret(at) {
			return "", false
		}
		return at, ok
	}
}

// supplier adds parameters to a request. The request that it is given keeps none of them.
type supplier struct {
	*API
	to        operation.Route
	operation *routes.Operation // nil for a job's own request
	params    []supply.Param    // with placeholders
	as        string            // the form of a body that has to be made
	secrets   supply.Secrets    // what no client may be told
	inResults []string          // secrets of the configuration that results of calls are searched for
}

// ServeHTTP adds the parameters and sends the request.
func (s *supplier) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
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
	if s.Login != nil {
		return s.Login.Serve(w, r, s, params)
	}
	q, concealed := request.Copy(r), conceal.New(s.Reveals, nil, s.IsSecret)
	if err := s.Apply(q, concealed, params); err != nil {
		return err
	}
	return s.to.ServeHTTP(concealed.Writer(w), concealed.Request(q))
}

// AddSecret implements signin.Sender.
func (s *supplier) AddSecret(text string) { s.secrets.Add(text) }

// IsSecret implements signin.Sender.
func (s *supplier) IsSecret(text string) bool { return s.secrets.In(text) }

// Send implements signin.Sender.
func (s *supplier) Send(w http.ResponseWriter, r *http.Request) error { return s.to.ServeHTTP(w, r) }

// Apply implements signin.Sender.
func (s *supplier) Apply(q *http.Request, concealed *conceal.Values, params []supply.Param) error {
	if err := concealed.Apply(q, params, s.as); err != nil {
		return envelope.Fail(http.StatusBadRequest, "", "the body could not be read", err)
	}
	return nil
}

// resolve fills in the placeholders of the parameters. A request whose parameters are unknown is
// not sent.
func (s *supplier) resolve(r *http.Request) ([]supply.Param, error) {
	params := slices.Clone(s.params)
	if s.KeepPlaceholders {
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
			return nil, unfilled(fmt.Errorf("send fixed %s=%s: %w", p.Name, written, err))
		}
	}
	return params, nil
}

// callerPlaceholders begin the placeholders that name the client. Their values are no secrets
// from the client: answers have them wherever they are about it.
const callerPlaceholders = "http.auth.user."

// configuredPlaceholders begin the placeholders whose values only the operator decides. All others, such as {http.request.*},
// may have what the client sends.
var configuredPlaceholders = []string{"env.", "file.", "system.", "time."}

func isConfigured(name string) bool {
	return slices.ContainsFunc(configuredPlaceholders, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

var errEndsQuotes = errors.New("the caller's value would end the quotes that it is in")

// unfilled is the error for a request whose placeholders have no values that can be sent.
func unfilled(err error) error {
	status := http.StatusServiceUnavailable
	if errors.Is(err, errEndsQuotes) {
		status = http.StatusForbidden
	}
	return envelope.Fail(status, "", "", err)
}

// endsQuotes reports whether a value in quotes, such as in a filter of OData, has such a quote or a backslash in it: the API
// could read what is behind it as more than a value.
func endsQuotes(written, name, value string) bool {
	texts := strings.SplitAfter(written, "{"+name+"}")
	before := ""
	return slices.ContainsFunc(texts[:len(texts)-1], func(text string) bool {
		before += text
		return pathpattern.EndQuotes(pathpattern.QuotesBetween(before, written[len(before):]), value)
	})
}

// minInResult is how long a secret must be for results of calls to be searched for it. Results
// have texts of users, where a shorter one may be an ordinary word.
const minInResult = 8

// fill fills in the placeholders of a text, and notes the values that clients must not be told.
// A value that the operator does not decide must not end the quotes that it is in. The error does not have the values.
func (s *supplier) fill(r *http.Request, written string) (string, error) {
	secret := false
	value, err := s.Replace(r, written, func(name, value string) error {
		if value == "" {
			return fmt.Errorf("the placeholder {%s} is unknown or empty", name)
		}
		if !isConfigured(name) && endsQuotes(written, name, value) {
			return errEndsQuotes
		}
		if !strings.HasPrefix(name, callerPlaceholders) {
			secret = true
			s.addConfigured(value)
		}
		return nil
	})
	if err == nil && secret {
		s.addConfigured(value) // a value too short to be searched for is found with the text around it
	}
	return value, err
}

// addConfigured notes a secret of the configuration.
func (s *supplier) addConfigured(value string) {
	s.secrets.Add(value)
	if len(value) >= minInResult && !slices.Contains(s.inResults, value) {
		s.inResults = append(s.inResults, value)
	}
}

// fillCall fills in the configured values of an RPC call.
func (s *supplier) fillCall(r *http.Request) error {
	call, err := io.ReadAll(r.Body) // the gateway's own, bounded by max_body
	if err != nil {
		return err
	}
	value := func(text string) (string, error) {
		value, err := s.fill(r, text)
		if err == nil {
			err = supply.CheckValue(supply.Param{In: supply.Body, Name: "the parameter", Value: value})
		}
		return value, err
	}
	if s.KeepPlaceholders {
		value = nil
	}
	filled, err := s.operation.Requests.FillCall(call, value)
	if err != nil {
		return unfilled(err)
	}
	r.Body, r.ContentLength = request.InMemory(filled), int64(len(filled))
	return nil
}

// mask returns the result of a call without the secrets of the configuration.
func (s *supplier) mask(result []byte) []byte {
	if s == nil {
		return result
	}
	return rpc.Mask(result, s.inResults)
}
