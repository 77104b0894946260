package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// visit is a browser with the cookie of an earlier answer.
func visit(before *httptest.ResponseRecorder) (*httptest.ResponseRecorder, *http.Request) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if before != nil {
		for _, c := range before.Result().Cookies() {
			r.AddCookie(c)
		}
	}
	return httptest.NewRecorder(), r
}

func TestSessionCountIsLimited(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	s := NewSessions[string]("id", true, 2, func() time.Time { return now })
	alice, r := visit(nil)
	if !s.SignIn(alice, r, "alice") {
		t.Fatal("no room")
	}
	for range 20 {
		now = now.Add(time.Second)
		w, r := visit(nil)
		if !s.Begin(w, r, "state", "verifier") || len(s.byID) > 2 {
			t.Fatalf("%d sessions", len(s.byID))
		}
	}
	if _, r := visit(alice); *s.User(r) != "alice" {
		t.Error("sign-ins that were begun put out somebody who is signed in")
	}
	bob, r := visit(nil)
	if !s.SignIn(bob, r, "bob") {
		t.Error("a sign-in that was only begun kept somebody out")
	}
	w, r := visit(nil)
	if s.Begin(w, r, "state", "verifier") || len(s.byID) != 2 {
		t.Errorf("a begun sign-in was let in beyond the cap: %d sessions", len(s.byID))
	}
	if w, r := visit(nil); s.SignIn(w, r, "carol") || len(s.byID) != 2 {
		t.Errorf("somebody was let in beyond the cap: %d sessions", len(s.byID))
	}
	now = now.Add(SessionLife)
	if _, r := visit(bob); s.User(r) != nil {
		t.Error("the session goes on after its end")
	}
	if w, r := visit(nil); !s.SignIn(w, r, "carol") || len(s.byID) != 1 {
		t.Errorf("what has expired was kept: %d sessions", len(s.byID))
	}
}

func TestSignInIsBoundToBrowserAndState(t *testing.T) {
	s := NewSessions[string]("id", true, 0, nil)
	mine, r := visit(nil)
	s.Begin(mine, r, "state", "verifier")
	if _, r := visit(nil); claims(s, r, "state") {
		t.Error("another browser claimed the sign-in")
	}
	_, r = visit(mine)
	if claims(s, r, "other") || !claims(s, r, "state") || claims(s, r, "state") {
		t.Error("expected one claim, with the right state")
	}
	w, r := visit(mine)
	s.SignIn(w, r, "alice")
	if _, r := visit(mine); s.User(r) != nil {
		t.Error("an ID that was planted before is signed in")
	}
	_, r = visit(w)
	if s.User(r) == nil {
		t.Error("nobody is signed in")
	}
	s.End(httptest.NewRecorder(), r)
	if s.User(r) != nil {
		t.Error("the session goes on")
	}
}

func claims(s *Sessions[string], r *http.Request, state string) bool {
	_, ok := s.Claim(r, state)
	return ok
}
