package upstream

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// callerPlaceholders begin the placeholders that name the client. Their values are no secrets
// from the client: answers have them wherever they are about it.
const callerPlaceholders = "http.auth.user."

// minInResult is how long a secret must be for results of calls to be searched for it. Results
// have texts of users, where a shorter one may be an ordinary word.
const minInResult = 8

// fill fills in the placeholders of a text, and notes the values that clients must not be told.
// Its error does not have the values.
func (s *supplier) fill(r *http.Request, written string) (string, error) {
	secret := false
	value, err := s.Replace(r, written, func(name, value string) error {
		if value == "" {
			return fmt.Errorf("the placeholder {%s} is unknown or empty", name)
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
		return envelope.Fail(http.StatusServiceUnavailable, "", "", err)
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
