package restapi

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// ofTheCaller is what the placeholders begin with that say who calls. Their values are no secrets from the
// caller: answers have them wherever the caller is meant.
const ofTheCaller = "http.auth.user."

// fill fills in the placeholders of a text that the gateway sends, and notes those of their values that
// clients must not be told. The error for a text does not have its values.
func (s *supplied) fill(r *http.Request, written string) (string, error) {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		repl = caddy.NewReplacer()
	}
	secret := false
	value, err := repl.ReplaceFunc(written, func(name string, value any) (any, error) {
		text := caddy.ToString(value)
		if text == "" {
			return nil, fmt.Errorf("the placeholder {%s} is unknown or empty", name)
		}
		if !strings.HasPrefix(name, ofTheCaller) {
			secret = true
			s.conceal(text)
		}
		return text, nil
	})
	if err == nil && secret {
		s.conceal(value) // one that is too short to be looked for is found with what stands around it
	}
	return value, err
}

// conceal notes a secret of the configuration.
func (s *supplied) conceal(value string) {
	s.hide(value)
	if len(value) >= leastInResult && !slices.Contains(s.configured, value) {
		s.configured = append(s.configured, value)
	}
}

// fillCall fills in the configured values of a call.
func (s *supplied) fillCall(r *http.Request) error {
	call, err := io.ReadAll(r.Body) // the gateway's own, of which max_body is a bound
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
	if s.h.unresolved {
		value = nil
	}
	filled, err := s.operation.Requests.FillCall(call, value)
	if err != nil {
		return envelope.Fail(http.StatusServiceUnavailable, "", "", err)
	}
	r.Body, r.ContentLength = request.InMemory(filled), int64(len(filled))
	return nil
}

// leastInResult is how long a secret must be to be looked for in results, whose texts are the owner's
// data: a shorter one may be a word in them.
const leastInResult = 8

// masked is the result of a call without the secrets of the configuration.
func (s *supplied) masked(result []byte) []byte {
	if s == nil {
		return result
	}
	return rpc.Mask(result, s.configured)
}
