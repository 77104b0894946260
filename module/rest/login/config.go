package login

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// Config is how the gateway signs in to an upstream with its own account.
type Config struct {
	// The sign-in requests, in order. At least one is required.
	Steps []Step `json:"steps,omitempty"`
	// Responses that mean that the session has ended, so that the gateway signs in again and repeats
	// the request. The upstream must not have acted on a request that it answers like this. Default:
	// the status 401.
	Again []Again `json:"again,omitempty"`
}

// Step is one request of a sign-in.
type Step struct {
	// `GET` or `POST`. Required.
	Method string `json:"method"`
	// The upstream's path and query. Required.
	Upstream string `json:"upstream"`
	// How the body is sent: `form` (the default) or `json`.
	As string `json:"as,omitempty"`
	// The parameters of the body. Placeholders such as `{file./run/password}` are replaced. Default:
	// none.
	Send []Value `json:"send,omitempty"`
	// Values of the response that are kept. Default: none.
	Keep []Keep `json:"keep,omitempty"`
	// Statuses that mean success, such as the 409 of an API that returns its session id only in
	// refusals. With any other status the step has failed. Default: all below 400.
	Status []int `json:"status,omitempty"`
	// Conditions on the response's JSON, or on the whole text if it is `text/plain` and the pointer is
	// empty. Unless all hold, the sign-in has failed. Default: none.
	Expect []envelope.Condition `json:"expect,omitempty"`
}

// Value is a parameter of a step's body.
type Value struct {
	// The parameter's name, in JSON also the JSON Pointer of a nested member: `/params/user`. Required.
	Name string `json:"name"`
	// Its value. In JSON, numbers, true, false, null, arrays, objects and quoted texts are taken as JSON, with
	// placeholders in the texts, and everything else as text. Default: empty.
	Value string `json:"value,omitempty"`
}

// Keep is a value of a step's response that is sent with the following steps and requests.
type Keep struct {
	// `cookie`, `json` or `header`. Required.
	From string `json:"from"`
	// The cookie's name (empty for all cookies), a JSON Pointer, or the header field's name. Default:
	// all cookies; required for the others.
	Name string `json:"name,omitempty"`
	// Where it is sent: `query`, `body` or `header`. Default for cookies: as cookies. Required for the
	// others.
	In supply.Place `json:"in,omitempty"`
	// The name under which it is sent. Required, except for cookies.
	As string `json:"as,omitempty"`
	// What precedes it in a header field, such as `Bearer`. Default: nothing.
	Scheme string `json:"scheme,omitempty"`
	// Sends it with the next step only.
	Next bool `json:"next,omitempty"`
}

// Again is a response that means that the session has ended.
type Again struct {
	// Statuses that mean it whatever the body contains. Default: the condition decides.
	Status []int `json:"status,omitempty"`
	// A condition on the JSON of an answer with any status.
	envelope.Condition
}

// Most of what can be declared.
const (
	maxSteps = 10
	maxParts = 50 // of a step, and of again
)

// Check says what is wrong with a step.
func (s Step) Check() error {
	u, err := url.ParseRequestURI(s.Upstream)
	switch {
	case s.Method != http.MethodGet && s.Method != http.MethodPost:
		return fmt.Errorf("unexpected method '%s', expected GET or POST", s.Method)
	case err != nil || !strings.HasPrefix(s.Upstream, "/") || strings.HasPrefix(s.Upstream, "//") || strings.ContainsAny(s.Upstream, "{}#") || u.Host != "":
		return fmt.Errorf("unexpected '%s', expected the path and query of the API, such as /api.php?action=login; secrets belong in the body", s.Upstream)
	case s.As != "" && s.As != "form" && s.As != "json":
		return fmt.Errorf("as %s: expected form or json", s.As)
	case s.Method == http.MethodGet && (s.As != "" || len(s.Send) > 0):
		return fmt.Errorf("a GET has no body, expected POST")
	case len(s.Send) > maxParts || len(s.Keep) > maxParts || len(s.Expect) > maxParts || len(s.Status) > maxParts:
		return fmt.Errorf("expected at most %d parameters, keep and expect", maxParts)
	}
	if err := s.checkSend(); err != nil {
		return err
	}
	for _, k := range s.Keep {
		if err := k.Check(); err != nil {
			return err
		}
	}
	for _, status := range s.Status {
		if status < 200 || status > 499 {
			return fmt.Errorf("expect status %d: expected one from 200 to 499", status)
		}
	}
	for _, c := range s.Expect {
		if err := c.Check(); err != nil {
			return fmt.Errorf("expect: %w", err)
		}
	}
	return nil
}

// checkSend says what is wrong with the body.
func (s Step) checkSend() error {
	if s.As == "json" {
		_, err := s.body(func(text string) (string, error) { return text, nil })
		return err
	}
	for i, v := range s.Send {
		if err := supply.CheckName(supply.Body, v.Name); err != nil {
			return err
		}
		if slices.ContainsFunc(s.Send[:i], func(other Value) bool { return other.Name == v.Name }) {
			return fmt.Errorf("%s is given twice", v.Name)
		}
	}
	return nil
}

// Check says what is wrong with it.
func (k Keep) Check() error {
	switch {
	case k.From != "cookie" && k.From != "json" && k.From != "header":
		return fmt.Errorf("keep %s: expected cookie, json or header", k.From)
	case k.From == "json" && (envelope.Condition{Pointer: k.Name, Op: "exists"}).Check() != nil:
		return fmt.Errorf("keep json: invalid JSON Pointer '%s', expected one that begins with / such as /query/tokens/csrftoken", k.Name)
	case k.From == "header" && k.Name == "":
		return fmt.Errorf("keep header: expected the name of a header field such as X-Auth-Token")
	case k.In == "" && k.From != "cookie" || k.In != "" && k.From == "cookie" && k.Name == "":
		return fmt.Errorf("keep %s: expected what it goes as, such as `keep json /token as header X-Token`", k.From)
	case k.In == "" && k.As+k.Scheme != "" || k.Scheme != "" && k.In != supply.Header:
		return fmt.Errorf("keep %s: unexpected '%s', expected a scheme such as Bearer for header fields only", k.From, k.Scheme)
	case k.In == "" && k.Next:
		return fmt.Errorf("keep cookie: cookies go with all further steps, expected no next")
	case k.In == "":
		return nil
	}
	if err := supply.CheckName(k.In, k.As); err != nil {
		return fmt.Errorf("keep %s: %w", k.From, err)
	}
	return nil
}

// Check says what is wrong with it.
func (a Again) Check() error {
	switch {
	case len(a.Status) > 0 && (a.Op != "" || a.Pointer != "" || len(a.Status) > maxParts):
		return fmt.Errorf("again when: expected either statuses or a condition such as /error/code == badtoken")
	case len(a.Status) > 0:
		for _, status := range a.Status {
			if status < 300 || status > 599 {
				return fmt.Errorf("again when status %d: expected one from 300 to 599; of other answers a condition says so", status)
			}
		}
		return nil
	}
	if err := a.Condition.Check(); err != nil {
		return fmt.Errorf("again when: %w", err)
	}
	return nil
}

// Check says what is wrong with it.
func (c *Config) Check() error {
	if len(c.Steps) == 0 || len(c.Steps) > maxSteps || len(c.Again) > maxParts {
		return fmt.Errorf("login: expected 1 to %d steps such as `POST /login user=gateway password={file./run/password}`", maxSteps)
	}
	keeps := false
	for i, s := range c.Steps {
		if err := s.Check(); err != nil {
			return fmt.Errorf("login: %s %s: %w", s.Method, s.Upstream, err)
		}
		for _, k := range s.Keep {
			keeps = keeps || !k.Next
			if k.Next && i == len(c.Steps)-1 {
				return fmt.Errorf("login: keep %s %s: there is no next step, expected it without next", k.From, k.Name)
			}
		}
	}
	if !keeps {
		return fmt.Errorf("login: nothing is kept for requests, expected a line such as `keep cookie` or `keep json /token as header Authorization Bearer`")
	}
	for _, a := range c.Again {
		if err := a.Check(); err != nil {
			return fmt.Errorf("login: %w", err)
		}
	}
	return nil
}

// Kept are the parameters that go with requests, without values.
func (c *Config) Kept() (params []supply.Param) {
	if c == nil {
		return nil
	}
	for _, s := range c.Steps {
		for _, k := range s.Keep {
			p := supply.Param{In: k.In, Name: k.As}
			if k.In != "" && !k.Next && !slices.Contains(params, p) {
				params = append(params, p)
			}
		}
	}
	return params
}

// AnswerFields are the header fields of answers in which an upstream gives sessions.
func (c *Config) AnswerFields() []string {
	names := []string{"Set-Cookie"}
	for _, s := range c.Steps {
		for _, k := range s.Keep {
			if k.From == "header" {
				names = append(names, http.CanonicalHeaderKey(k.Name))
			}
		}
	}
	return names
}
