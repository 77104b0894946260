package login

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// MaxAnswer bounds what is read of a step's answer.
const MaxAnswer = 64 << 10

// Cookies of one sign-in, and their bytes together: no more fits into a request's header.
const (
	maxCookies = 50
	maxJar     = 8 << 10
)

// Plan is a Config, compiled.
type Plan struct {
	steps    []Step
	expect   [][]*judge
	statuses map[int]bool
	again    *judge // nil: statuses alone say that a session is over
}

// New checks and compiles a configuration.
func New(c *Config) (*Plan, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	p := &Plan{steps: c.Steps, statuses: make(map[int]bool)}
	for _, s := range c.Steps {
		var judges []*judge
		for _, e := range s.Expect {
			j, err := newJudge([]envelope.Condition{e})
			if err != nil {
				return nil, err
			}
			judges = append(judges, j)
		}
		p.expect = append(p.expect, judges)
	}
	var rules []envelope.Condition
	for _, a := range c.Again {
		for _, status := range a.Status {
			p.statuses[status] = true
		}
		if len(a.Status) == 0 {
			rules = append(rules, a.Condition)
		}
	}
	if len(c.Again) == 0 {
		p.statuses[http.StatusUnauthorized] = true
	}
	var err error
	if len(rules) > 0 {
		p.again, err = newJudge(rules)
	}
	return p, err
}

// OverByStatus reports whether an answer's status says that the session is over.
func (p *Plan) OverByStatus(status int) bool { return p.statuses[status] }

// Reads reports whether the bodies of answers may say so too.
func (p *Plan) Reads() bool { return p.again != nil }

// OverByBody reports whether the beginning of an answer's body says that the session is over.
func (p *Plan) OverByBody(h http.Header, body []byte, cut bool) bool {
	return p.again != nil && p.again.holds(h, body, cut)
}

// Session is what a sign-in gave. It is not changed.
type Session struct {
	Cookie string // the value of the header field, "" for none
	Params []supply.Param
	// Secrets are the values in it, which no client may be told.
	Secrets []string
}

// Answer is what a step was answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // MaxAnswer bytes at most
	Cut    bool
}

// Do sends a request of a step. It MUST NOT follow redirects, and fails only where there is no
// whole answer.
type Do func(ctx context.Context, r *http.Request) (Answer, error)

// Error is a sign-in that failed. Its text has no secrets.
type Error struct {
	// Refused: the upstream was reached, and did not let the gateway in.
	Refused bool
	step    string
	err     error
}

func (e *Error) Error() string { return e.step + ": " + e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

// SignIn goes through the steps. fill fills in placeholders.
func (p *Plan) SignIn(ctx context.Context, do Do, fill func(string) (string, error)) (*Session, error) {
	j := &journey{jar: make(map[string]string), named: make(map[string]bool)}
	for i, s := range p.steps {
		if refused, err := p.step(ctx, i, s, j, do, fill); err != nil {
			path, _, _ := strings.Cut(s.Upstream, "?")
			return nil, &Error{refused, fmt.Sprintf("step %d, %s %s", i+1, s.Method, path), err}
		}
	}
	return j.session(), nil
}

// journey is what a sign-in has so far.
type journey struct {
	jar    map[string]string
	order  []string // of the cookies
	named  map[string]bool
	all    bool // all cookies go with requests
	next   []supply.Param
	params []supply.Param
}

func (p *Plan) step(ctx context.Context, i int, s Step, j *journey, do Do, fill func(string) (string, error)) (refused bool, err error) {
	r, err := j.request(ctx, s, fill)
	if err != nil {
		return false, err
	}
	a, err := do(ctx, r)
	if err != nil {
		return false, err
	}
	if err := s.checkStatus(a.Status); err != nil {
		return a.Status < http.StatusInternalServerError && a.Status != http.StatusTooManyRequests, err
	}
	if err := j.cookies(a.Header); err != nil {
		return true, err
	}
	for k, expected := range p.expect[i] {
		if !expected.holds(a.Header, a.Body, a.Cut) {
			return true, fmt.Errorf("`expect %s` does not hold%s", written(s.Expect[k]), unlikeJSON(a))
		}
	}
	j.next = nil
	for _, k := range s.Keep {
		if err := j.keep(k, a); err != nil {
			return true, err
		}
	}
	return false, nil
}

// checkStatus says what is wrong with the status of the step's answer.
func (s Step) checkStatus(status int) error {
	switch {
	case len(s.Status) == 0 && status >= http.StatusBadRequest:
		return fmt.Errorf("status %d, expected one below 400, or those of `expect status`", status)
	case len(s.Status) > 0 && !slices.Contains(s.Status, status):
		return fmt.Errorf("status %d, expected %s", status, strings.Trim(fmt.Sprint(s.Status), "[]"))
	}
	return nil
}

// request makes the one of a step, with what was kept before.
func (j *journey) request(ctx context.Context, s Step, fill func(string) (string, error)) (*http.Request, error) {
	at, err := url.ParseRequestURI(s.Upstream)
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	r := (&http.Request{Method: s.Method, URL: at, Header: make(http.Header), Body: http.NoBody}).WithContext(ctx)
	r.Header.Set("Accept", "application/json, */*;q=0.5")
	r.Header.Set("Accept-Encoding", "identity")
	var params []supply.Param
	as := cmp.Or(s.As, "form")
	switch {
	case s.Method == http.MethodGet:
		as = ""
	case as == "json" && len(s.Send) > 0:
		body, err := s.body(fill)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	default:
		if params, err = s.Fill(fill); err != nil {
			return nil, err
		}
	}
	params = append(append(params, j.params...), j.next...)
	if c := j.cookie(true); c != "" {
		r.Header.Set("Cookie", c)
	}
	return r, supply.Apply(r, params, as)
}

// cookies takes those that an answer sets. There is one API, so paths and domains say nothing.
func (j *journey) cookies(h http.Header) error {
	for _, c := range (&http.Response{Header: h}).Cookies() {
		_, known := j.jar[c.Name]
		switch {
		case c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(time.Unix(1, 0).AddDate(10, 0, 0)) || c.Value == "":
			delete(j.jar, c.Name)
			continue
		case !known:
			j.order = append(j.order, c.Name)
		}
		j.jar[c.Name] = c.Value
		size := 0
		for name, value := range j.jar {
			size += len(name) + len(value) + 3
		}
		if len(j.jar) > maxCookies || len(j.order) > 4*maxCookies || size > maxJar {
			return fmt.Errorf("too many cookies, expected at most %d and %d bytes", maxCookies, maxJar)
		}
	}
	return nil
}

// cookie is the header field, of all cookies or of those that go with requests.
func (j *journey) cookie(all bool) string {
	var b strings.Builder
	done := make(map[string]bool)
	for _, name := range j.order {
		value, ok := j.jar[name]
		if !ok || done[name] || !all && !j.all && !j.named[name] {
			continue
		}
		done[name] = true
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(name + "=" + value)
	}
	return b.String()
}

func (j *journey) keep(k Keep, a Answer) error {
	value, err := "", error(nil)
	switch {
	case k.From == "cookie" && k.Name == "":
		j.all = true
		return nil
	case k.From == "cookie":
		value = j.jar[k.Name]
	case k.From == "header":
		value = a.Header.Get(k.Name)
	default:
		value = scalarAt(a.Body, k.Name)
	}
	if value == "" {
		return fmt.Errorf("the answer has no %s %s", k.From, k.Name)
	}
	if k.In == "" {
		j.named[k.Name] = true
		return nil
	}
	if k.Scheme != "" {
		value = k.Scheme + " " + value
	}
	p := supply.Param{In: k.In, Name: k.As, Value: value}
	if err = supply.CheckValue(p); err != nil {
		return err
	}
	if k.Next {
		j.next = append(j.next, p)
		return nil
	}
	if i := slices.IndexFunc(j.params, func(other supply.Param) bool { return other.In == p.In && other.Name == p.Name }); i >= 0 {
		j.params[i] = p
	} else {
		j.params = append(j.params, p)
	}
	return nil
}

// scalarAt returns the text, number or boolean at a pointer of a JSON document, "" for none.
func scalarAt(body []byte, pointer string) string {
	at, err := splice.ParsePointer(pointer)
	if err != nil {
		return ""
	}
	plan, err := splice.Compile(splice.Config{Capture: []splice.Pointer{at}, MaxScalar: MaxAnswer})
	if err != nil {
		return ""
	}
	e := plan.New(io.Discard)
	defer e.Release()
	if _, err := e.Write(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))); err != nil || e.Close() != nil {
		return ""
	}
	if s := e.Captured(0); s.Kind != splice.Null {
		return s.Text
	}
	return ""
}

func (j *journey) session() *Session {
	s := &Session{Cookie: j.cookie(false), Params: j.params}
	for _, p := range j.params {
		s.Secrets = append(s.Secrets, p.Value)
		if _, bare, ok := strings.Cut(p.Value, " "); ok {
			s.Secrets = append(s.Secrets, bare)
		}
	}
	for _, value := range j.jar {
		s.Secrets = append(s.Secrets, value)
		// PHP percent-decodes cookies before it repeats them.
		if read, err := url.QueryUnescape(value); err == nil && read != value {
			s.Secrets = append(s.Secrets, read)
		}
	}
	return s
}
