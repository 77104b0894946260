package introspection

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/authserver/audience"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

const issuer = "https://id.example"

var (
	web      = &oauth.Client{ID: "web", Grants: []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken}}
	other    = &oauth.Client{ID: "other"}
	api      = &oauth.Client{ID: "api", Audience: []string{"https://api.example"}, Introspect: true}
	byStatus = &oauth.Client{ID: "nginx", Audience: []string{"https://api.example"}, Introspect: true, IntrospectByStatus: true}
	public   = &oauth.Client{ID: "spa", Public: true}
)

type rig struct {
	*Endpoint
	memory *storetest.Memory
	users  *directorytest.Memory
	counts []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	keys, err := secret.NewKeys(make([]byte, secret.MinLength))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{memory: storetest.NewMemory(nil), users: directorytest.NewMemory(directorytest.Seed{User: directory.User{ID: "ann", Username: "ann"}})}
	families, err := grant.NewFamilies(grant.Config{
		Store: r.memory, Directory: r.users, Revocations: noFeed{}, Passwords: nobody{}, Now: time.Now,
		Keys: func(context.Context) (*secret.Keys, error) { return keys, nil }, Access: time.Hour, Refresh: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Endpoint = &Endpoint{
		Issuer: issuer, Audiences: audience.Config{Default: []string{"https://web.example"}}, Families: families, Users: r.users, Store: r.memory,
		Attempts: lockout.NewBook(100, time.Now), Guesses: 2, Respond: oauthhttp.Responder{Log: slog.New(slog.DiscardHandler)},
		Count:    func(outcome string) { r.counts = append(r.counts, outcome) },
		ClientIP: func(*http.Request) string { return "192.0.2.1" },
		Verify:   verify,
		FindClient: func(_ context.Context, id string) (*oauth.Client, bool, error) {
			return web, id == "web", nil
		},
	}
	return r
}

// verify knows tokens by name.
func verify(_ context.Context, raw string) (*token.Access, error) {
	a := &token.Access{
		ID: "jti", Issuer: issuer, Subject: "ann", Audience: []string{"https://api.example"}, Client: "web", Scopes: []string{"read"},
		IssuedAt: 1_900_000_000, Expires: time.Unix(1_900_003_600, 0),
	}
	switch raw {
	case "live":
	case "pairwise":
		a.Pairwise = "p-1"
	case "of nobody":
		a.Subject = "ghost"
	case "of a client":
		a.Subject = token.ClientSubject + "web"
	case "of a client that is gone":
		a.Client = "gone"
	case "for elsewhere":
		a.Audience = []string{"https://elsewhere.example"}
	case "of another issuer":
		a.Issuer = "https://evil.example"
	case "expired":
		return nil, token.ErrExpired
	case "fault":
		return nil, errors.New("the store is away")
	default:
		return nil, token.ErrInvalid
	}
	return a, nil
}

func (r *rig) ask(t *testing.T, c *oauth.Client, form string) (*httptest.ResponseRecorder, answer) {
	t.Helper()
	f, err := httpx.ParseForm(form)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r.Serve(w, httptest.NewRequest(http.MethodPost, "/introspect", nil), c, f)
	var told answer
	_ = json.Unmarshal(w.Body.Bytes(), &told)
	return w, told
}

func TestIntrospectionAccessControl(t *testing.T) {
	for _, c := range []struct {
		client *oauth.Client
		token  string
		status int
		active bool
		counts string
	}{
		{web, "live", 200, true, "active"}, {api, "live", 200, true, "active"}, {other, "live", 200, false, "inactive"},
		{web, "for elsewhere", 200, true, "active"}, {api, "for elsewhere", 200, false, "inactive"},
		{web, "of a client", 200, true, "active"}, {web, "of nobody", 200, false, "inactive"}, {api, "of a client that is gone", 200, false, "inactive"},
		{web, "of another issuer", 200, false, "inactive"}, {web, "expired", 200, false, "inactive"}, {web, "guessed", 200, false, "inactive"},
		{web, "fault", 503, false, "temporarily_unavailable"}, {web, "", 400, false, "invalid_request"}, {public, "live", 401, false, "invalid_client"},
	} {
		r := newRig(t)
		w, told := r.ask(t, c.client, "token="+strings.ReplaceAll(c.token, " ", "+"))
		if w.Code != c.status || told.Active != c.active || strings.Join(r.counts, " ") != c.counts {
			t.Errorf("%s asks about %q: %d %s, counted %v", c.client.ID, c.token, w.Code, w.Body, r.counts)
		}
		if c.status == 200 && !c.active && strings.TrimSpace(w.Body.String()) != `{"active":false}` {
			t.Errorf("%s learns about %q: %s", c.client.ID, c.token, w.Body)
		}
	}
}

func TestActiveTokenIsDescribed(t *testing.T) {
	r := newRig(t)
	_, told := r.ask(t, api, "token=pairwise")
	want := answer{
		Active: true, Scope: "read", Client: "web", TokenType: "Bearer", TokenUse: "access_token", Expires: 1_900_003_600, IssuedAt: 1_900_000_000,
		Subject: "p-1", Audience: "https://api.example", Issuer: issuer, ID: "jti",
	}
	if told != want {
		t.Errorf("%+v", told)
	}
}

func TestIntrospectionSeesRevocationsBeforeTheVerifier(t *testing.T) {
	r := newRig(t)
	revoked := store.Record{Key: store.Revocation{Of: store.RevokeToken, Value: "jti"}.Key(), Value: []byte("{}"), Expires: time.Now().Add(time.Hour)}
	if _, err := r.memory.Create(t.Context(), revoked); err != nil {
		t.Fatal(err)
	}
	if _, told := r.ask(t, web, "token=live"); told.Active {
		t.Errorf("%+v", told)
	}
	r = newRig(t)
	r.users.SetLocked("ann", true)
	if _, told := r.ask(t, web, "token=live"); told.Active {
		t.Errorf("of a locked user: %+v", told)
	}
}

func TestOnlyGuessesAreLimited(t *testing.T) {
	r := newRig(t)
	for _, form := range []string{"token=guess-1", "token=live", "token=expired", "token=guess-2"} {
		if w, _ := r.ask(t, web, form); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", form, w.Code, w.Body)
		}
	}
	if w, _ := r.ask(t, web, "token=guess-3"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("the third guess: %d %s", w.Code, w.Body)
	}
	if w, told := r.ask(t, web, "token=live"); w.Code != http.StatusOK || !told.Active {
		t.Errorf("a live token after too many guesses: %d %s", w.Code, w.Body)
	}
}

func TestIntrospectionByStatusAnswersAGateway(t *testing.T) {
	for form, want := range map[string]struct {
		status    int
		challenge string
	}{
		"token=live":                  {200, ""},
		"token=live&scope=read":       {200, ""},
		"token=live&scope=read+write": {403, `error="insufficient_scope"`},
		"token=live&scope=":           {400, ""},
		"token=live&scope=%22":        {400, ""},
		"scope=read":                  {401, `Bearer realm="https://api.example"`},
		"token=expired":               {401, `error="invalid_token"`},
		"token=for+elsewhere":         {401, `error="invalid_token"`},
		"token=of+nobody":             {401, `error="invalid_token"`},
		"token=fault":                 {503, ""},
	} {
		r := newRig(t)
		w, _ := r.ask(t, byStatus, form)
		got := w.Header().Get("WWW-Authenticate")
		if w.Code != want.status || want.challenge == "" && got != "" || !strings.Contains(got, want.challenge) {
			t.Errorf("%s: %d %s", form, w.Code, got)
		}
		if subject := w.Header().Get(httpx.SubjectHeader); (subject == "ann") != (want.status == 200) {
			t.Errorf("%s: subject %q", form, subject)
		}
	}
}

type noFeed struct{}

func (noFeed) Revoke(context.Context, store.Revocation) error { return nil }

type nobody struct{}

func (nobody) CheckPassword(context.Context, grant.Request, string, string) (directory.User, bool, error) {
	return directory.User{}, false, nil
}
