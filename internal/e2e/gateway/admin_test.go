package gateway

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/store"
)

func admin(t *testing.T, g *harness.Gateway, method, path, body string) harness.Page {
	t.Helper()
	r, err := http.NewRequest(method, g.Admin+"/gatehouse/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return harness.Do(t, http.DefaultClient, r)
}

var administration = []struct{ method, path, body string }{
	{"GET", "users", ""}, {"POST", "users", `{"username":"bob","password":"long enough"}`}, {"GET", "users/alice", ""}, {"PATCH", "users/alice", `{"name":"x"}`},
	{"DELETE", "users/alice", ""}, {"POST", "users/alice/lock", ""}, {"POST", "users/alice/unlock", ""}, {"POST", "users/alice/password", `{"password":"long enough"}`},
	{"GET", "users/alice/grants", ""}, {"DELETE", "users/alice/grants", ""}, {"DELETE", "users/alice/grants/g", ""},
	{"GET", "clients", ""}, {"POST", "clients", `{"id":"x","scopes":["read"]}`}, {"GET", "clients/kept", ""}, {"PATCH", "clients/kept", `{"name":"x"}`},
	{"DELETE", "clients/kept", ""}, {"POST", "clients/kept/rotate-secret", ""},
	{"GET", "keys", ""}, {"POST", "keys/rotate", ""}, {"DELETE", "keys/k", ""},
}

// A store that is away is never an answer about users, clients, grants or keys.
func TestStoreOutageMakesTheAdminAPIUnavailable(t *testing.T) {
	g, _, m := startFaultySite(t, anybody)
	for _, path := range []string{"users", "clients"} {
		body := map[string]string{"users": `{"username":"alice","password":"long enough"}`, "clients": `{"id":"kept","scopes":["read"]}`}[path]
		if p := admin(t, g, "POST", path, body); p.Status != http.StatusCreated {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
	}
	m.Fail(errors.New("away, password=hunter2"))
	for _, c := range administration {
		p := admin(t, g, c.method, c.path, c.body)
		if p.Status != http.StatusServiceUnavailable || p.Header.Get("Retry-After") == "" || !strings.Contains(p.Body, `"unavailable"`) || strings.Contains(p.Body, "hunter2") {
			t.Errorf("%s %s: %d %s", c.method, c.path, p.Status, p.Body)
		}
	}
	if p := admin(t, g, "GET", "doctor", ""); p.Status != http.StatusOK || strings.Count(p.Body, `"fail"`) < 3 {
		t.Errorf("the doctor: %d %s", p.Status, p.Body)
	}
	m.Fail(nil)
	if p := admin(t, g, "GET", "users/alice", ""); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

// What was done on the way to a failure stays done, and doing it again does the rest.
func TestRetryFinishesAPartialFailure(t *testing.T) {
	g, _, m := startFaultySite(t, anybody)
	if p := admin(t, g, "POST", "users", `{"username":"alice","password":"`+password+`"}`); p.Status != http.StatusCreated {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	access, refresh := tokens(t, g, web)
	m.LoseReply(errors.New("the reply is lost"))
	first := admin(t, g, "DELETE", "users/alice", "")
	m.LoseReply(nil)
	if first.Status != http.StatusServiceUnavailable {
		t.Fatalf("%d %s", first.Status, first.Body)
	}
	if p := admin(t, g, "GET", "users/alice", ""); p.Status != http.StatusOK || !strings.Contains(p.Body, `"locked":true`) {
		t.Errorf("a user who is half gone is locked: %d %s", p.Status, p.Body)
	}
	if p := admin(t, g, "DELETE", "users/alice", ""); p.Status != http.StatusNoContent {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := g.Call(t, "GET", "/read", access); p.Status != http.StatusUnauthorized {
		t.Errorf("%d", p.Status)
	}
	if p := g.Token(t, web, refreshWith(refresh)); p.Status != http.StatusBadRequest {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if _, err := m.Get(t.Context(), store.Key{Kind: store.KindUsername, ID: "alice"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the name is not free: %v", err)
	}
}
