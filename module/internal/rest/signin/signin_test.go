package signin_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/signin"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// api gives sessions in a cookie, and answers requests with the newest one.
type api struct {
	signIns int
	refuses int   // status of the answer to a sign-in, 0 for a session
	fault   error // of a sign-in
	deaf    bool  // it refuses every session
	plain   bool  // it says so with a status of success
	bodies  []string
	cookies []string
	secrets []string
	agents  []string
}

// ServeHTTP implements [operation.Route]: it answers sign-ins.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	a.signIns++
	a.agents = append(a.agents, r.UserAgent())
	body, _ := io.ReadAll(r.Body)
	switch {
	case a.fault != nil:
		return a.fault
	case a.refuses != 0:
		w.WriteHeader(a.refuses)
		return nil
	case string(body) != "user=gateway&password=hush" || r.Header.Get("X-Key") != "k":
		w.WriteHeader(http.StatusForbidden)
		return nil
	}
	http.SetCookie(w, &http.Cookie{Name: "sid", Value: a.current()})
	w.WriteHeader(http.StatusOK)
	return nil
}

func (a *api) current() string { return "session-" + string(rune('0'+a.signIns)) }

// end makes the current session invalid.
func (a *api) end() { a.signIns++ }

// AddSecret implements [signin.Sender].
func (a *api) AddSecret(text string) { a.secrets = append(a.secrets, text) }

// IsSecret implements [signin.Sender].
func (a *api) IsSecret(text string) bool { return slices.Contains(a.secrets, text) }

// Apply implements [signin.Sender].
func (*api) Apply(r *http.Request, _ *conceal.Values, params []supply.Param) error {
	for _, p := range params {
		r.Header.Set(p.Name, p.Value)
	}
	return nil
}

// Send implements [signin.Sender].
func (a *api) Send(w http.ResponseWriter, r *http.Request) error {
	body, _ := io.ReadAll(r.Body)
	a.agents = append(a.agents, r.UserAgent())
	a.bodies, a.cookies = append(a.bodies, string(body)), append(a.cookies, r.Header.Get("Cookie"))
	w.Header().Set("Content-Type", "application/json")
	switch over := a.deaf || r.Header.Get("Cookie") != "sid="+a.current(); {
	case over && a.plain:
		_, _ = io.WriteString(w, `{"ok":false}`)
	case over:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		_, _ = io.WriteString(w, `{"ok":true}`)
	}
	return nil
}

func newSignIn(t *testing.T, a *api, maxBody int64) *signin.SignIn {
	t.Helper()
	plan, err := login.New(&login.Config{
		Steps: []login.Step{{
			Method: http.MethodPost, Upstream: "/login", Send: []login.Value{{Name: "user", Value: "gateway"}, {Name: "password", Value: "{password}"}},
			Keep: []login.Keep{{From: "cookie", Name: "sid"}},
		}},
		Again: []login.Again{{Status: []int{http.StatusUnauthorized}}, {Condition: envelope.Condition{Pointer: "/ok", Op: "==", Values: []string{"false"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return signin.New(signin.Config{
		Plan: plan, Keeper: login.NewKeeper(time.Now), To: a, MaxBody: maxBody, Log: slog.New(slog.DiscardHandler),
		NewRequest: func(ctx context.Context, _ http.ResponseWriter, up mapping.Upstream) *http.Request {
			r := httptest.NewRequestWithContext(ctx, up.Method, up.Path, bytes.NewReader(up.Body))
			r.Header = up.Set
			return r
		},
		Fill: func(text string) (string, error) { return strings.ReplaceAll(text, "{password}", "hush"), nil },
		StatusOf: func(err error) int {
			if errors.Is(err, context.DeadlineExceeded) {
				return http.StatusGatewayTimeout
			}
			return http.StatusBadGateway
		},
		Fields: []supply.Param{{In: supply.Header, Name: "X-Key", Value: "k"}},
	})
}

func serve(s *signin.SignIn, a *api, body string) (*httptest.ResponseRecorder, error) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/articles", strings.NewReader(body))
	r.Header.Set("Cookie", "of the client")
	return w, s.Serve(w, r, a, []supply.Param{{In: supply.Header, Name: "X-All", Value: "1"}})
}

func TestRequestsShareASessionUntilItExpires(t *testing.T) {
	for _, plain := range []bool{false, true} {
		a := &api{plain: plain}
		s := newSignIn(t, a, 1<<10)
		for range 3 {
			if w, err := serve(s, a, "x"); err != nil || w.Code != http.StatusOK || w.Body.String() != `{"ok":true}` {
				t.Fatalf("%d %s, %v", w.Code, w.Body, err)
			}
		}
		if a.signIns != 1 || slices.Contains(a.cookies, "of the client") || !slices.Contains(a.secrets, "session-1") {
			t.Errorf("%d sign-ins, cookies %q, secrets %q", a.signIns, a.cookies, a.secrets)
		}
		a.end()
		a.bodies = nil
		if w, err := serve(s, a, "again"); err != nil || w.Code != http.StatusOK || w.Body.String() != `{"ok":true}` || a.signIns != 3 {
			t.Errorf("%d %s after %d sign-ins, %v", w.Code, w.Body, a.signIns, err)
		}
		if !slices.Equal(a.bodies, []string{"again", "again"}) {
			t.Errorf("the API was sent %q", a.bodies)
		}
	}
}

func TestBodyThatWasNotKeptIsNotRetried(t *testing.T) {
	a := &api{}
	s := newSignIn(t, a, 4)
	if _, err := serve(s, a, "x"); err != nil {
		t.Fatal(err)
	}
	a.end()
	a.bodies = nil
	_, err := serve(s, a, "too long to keep")
	var refused *envelope.Refusal
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") == "" || len(a.bodies) != 1 {
		t.Errorf("%v, sent %q", err, a.bodies)
	}
}

func TestRefusalWithANewSessionReachesTheClient(t *testing.T) {
	a := &api{deaf: true}
	s := newSignIn(t, a, 1<<10)
	for range 2 {
		if w, err := serve(s, a, "x"); err != nil || w.Code != http.StatusUnauthorized {
			t.Errorf("%d, %v", w.Code, err)
		}
	}
	if a.signIns > 2 {
		t.Errorf("%d sign-ins although new sessions do not help", a.signIns)
	}
}

func TestNothingIsSentWithoutASession(t *testing.T) {
	for name, c := range map[string]struct {
		api    api
		status int
		code   string
	}{
		"refused":       {api{refuses: http.StatusForbidden}, http.StatusBadGateway, "upstream_auth_failed"},
		"too slow":      {api{fault: context.DeadlineExceeded}, http.StatusGatewayTimeout, ""},
		"not reachable": {api{fault: errors.New("connection refused")}, http.StatusBadGateway, ""},
	} {
		_, err := serve(newSignIn(t, &c.api, 1<<10), &c.api, "x")
		var refused *envelope.Refusal
		if !errors.As(err, &refused) || refused.Status != c.status || c.code != "" && refused.Code != c.code || !signin.IsNotSent(err) || len(c.api.bodies) > 0 {
			t.Errorf("%s: %v, sent %q", name, err, c.api.bodies)
		}
	}
}

func TestSignInAndRequestsHaveTheSameUserAgent(t *testing.T) {
	for _, fixed := range []string{"", "Shop"} {
		a := new(api)
		s := newSignIn(t, a, 100)
		params, want := []supply.Param(nil), "Gatehouse"
		if fixed != "" {
			params, want = []supply.Param{{In: supply.Header, Name: "User-Agent", Value: fixed}}, fixed
			s.Fields = append(s.Fields, params...)
		}
		for _, agent := range []string{"curl/8", "Mozilla/5.0"} {
			r := httptest.NewRequest(http.MethodGet, "/articles", http.NoBody)
			r.Header.Set("User-Agent", agent)
			if err := s.Serve(httptest.NewRecorder(), r, a, params); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(a.agents, []string{want, want, want}) {
			t.Errorf("%q were sent, want only %s", a.agents, want)
		}
	}
}
