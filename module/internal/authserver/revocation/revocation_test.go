package revocation

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/audit"
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
	now     = time.Unix(1_900_000_000, 0)
	till    = &oauth.Client{ID: "till", Scopes: []string{"read"}, Grants: []oauth.GrantType{oauth.Password, oauth.RefreshToken}}
	someone = &oauth.Client{ID: "someone"}
)

type rig struct {
	*Endpoint
	feed    feed
	refresh string
	counts  []string
	events  []audit.Event
}

// feed records revocations.
type feed struct {
	revoked []store.Revocation
	err     error
}

func (f *feed) Revoke(_ context.Context, r store.Revocation) error {
	f.revoked = append(f.revoked, r)
	return f.err
}

// Record implements [audit.Sink].
func (r *rig) Record(_ context.Context, e audit.Event) { r.events = append(r.events, e) }

// CheckPassword implements [grant.Passwords].
func (*rig) CheckPassword(context.Context, grant.Request, string, string) (directory.User, bool, error) {
	return directory.User{ID: "ann"}, true, nil
}

// newRig returns an endpoint and a refresh token of the client till.
func newRig(t *testing.T) *rig {
	t.Helper()
	keys, err := secret.NewKeys(make([]byte, secret.MinLength))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{}
	users := directorytest.NewMemory(directorytest.Seed{User: directory.User{ID: "ann", Username: "ann"}})
	families, err := grant.NewFamilies(grant.Config{
		Store: storetest.NewMemory(nil), Directory: users, Revocations: &r.feed, Passwords: r, Now: time.Now,
		Keys: func(context.Context) (*secret.Keys, error) { return keys, nil }, Access: time.Hour, Refresh: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Endpoint = &Endpoint{
		Issuer: issuer, Families: families, Verify: verify, Revocations: &r.feed, Attempts: lockout.NewBook(100, time.Now), Audit: r,
		Count: func(outcome string) { r.counts = append(r.counts, outcome) }, Respond: oauthhttp.Responder{Log: slog.New(slog.DiscardHandler)},
		Now: func() time.Time { return now },
	}
	for _, g := range grant.All(families) {
		if g.Type() != oauth.Password {
			continue
		}
		form, _ := httpx.ParseForm("username=ann&password=x&scope=read")
		p, err := g.Prepare(t.Context(), grant.Request{Client: till, Form: form})
		if err == nil {
			r.refresh, err = p.Commit(t.Context())
		}
		if err != nil || r.refresh == "" {
			t.Fatalf("no refresh token: %v", err)
		}
	}
	return r
}

// verify knows tokens by name.
func verify(_ context.Context, raw string) (*token.Access, error) {
	a := &token.Access{ID: "jti", Issuer: issuer, Subject: "ann", Client: "till", Scopes: []string{"read"}, IssuedAt: token.Seconds(now.Unix() - 60)}
	switch raw {
	case "live":
		return a, nil
	case "of another issuer":
		a.Issuer = "https://evil.example"
		return a, nil
	case "early":
		a.IssuedAt = token.Seconds(now.Unix() + 60)
		return nil, &token.RefusedError{Refusal: token.NotYetValid, Access: a}
	case "revoked":
		return nil, token.Refuse(token.Revoked, a)
	case "expired":
		return nil, token.ErrExpired
	case "fault":
		return nil, errors.New("the store is away")
	}
	return nil, token.ErrInvalid
}

func (r *rig) revokeAs(t *testing.T, c *oauth.Client, raw string) int {
	t.Helper()
	form, err := httpx.ParseForm("token=" + strings.ReplaceAll(raw, " ", "+"))
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r.Serve(w, httptest.NewRequest(http.MethodPost, "/revoke", nil), c, form)
	return w.Code
}

func TestRevocableAccessTokens(t *testing.T) {
	for _, c := range []struct {
		client *oauth.Client
		token  string
		status int
		counts string
		at     time.Time // of the revocation; zero: there is none
	}{
		{till, "live", 200, "revoked", now},
		{till, "early", 200, "revoked", now.Add(time.Minute)},
		{till, "expired", 200, "nothing", time.Time{}},
		{till, "guessed", 200, "nothing", time.Time{}},
		{till, "of another issuer", 200, "nothing", time.Time{}},
		{someone, "live", 400, "unauthorized_client", time.Time{}},
		{till, "", 400, "invalid_request", time.Time{}},
		{till, "fault", 503, "temporarily_unavailable", time.Time{}},
	} {
		r := newRig(t)
		status := r.revokeAs(t, c.client, c.token)
		if status != c.status || strings.Join(r.counts, " ") != c.counts {
			t.Errorf("%s by %s: %d, counted %v", c.token, c.client.ID, status, r.counts)
		}
		switch {
		case c.at.IsZero():
			if len(r.feed.revoked)+len(r.events) > 0 {
				t.Errorf("%s by %s: %v, %v", c.token, c.client.ID, r.feed.revoked, r.events)
			}
		case len(r.feed.revoked) != 1 || r.feed.revoked[0].Value != "jti" || !r.feed.revoked[0].At.Equal(c.at):
			t.Errorf("%s: %+v", c.token, r.feed.revoked)
		case len(r.events) != 1 || r.events[0].Name != audit.Revoke || r.events[0].Reason != "access_token":
			t.Errorf("%s: %+v", c.token, r.events)
		}
	}
}

func TestRevokingARefreshTokenRevokesItsGrant(t *testing.T) {
	r := newRig(t)
	if status := r.revokeAs(t, someone, r.refresh); status != http.StatusBadRequest || r.counts[0] != "unauthorized_client" {
		t.Errorf("by another client: %d %v", status, r.counts)
	}
	if _, alive, err := r.Families.Find(t.Context(), till, r.refresh); err != nil || !alive {
		t.Fatalf("%v %v", alive, err)
	}
	if status := r.revokeAs(t, till, r.refresh); status != http.StatusOK || r.counts[1] != "revoked" {
		t.Errorf("by its client: %d %v", status, r.counts)
	}
	if len(r.events) != 1 || r.events[0].Reason != "refresh_token" || len(r.feed.revoked) != 1 || r.feed.revoked[0].Of != store.RevokeGrant {
		t.Errorf("%+v %+v", r.events, r.feed.revoked)
	}
	if p, _, err := r.Families.Find(t.Context(), till, r.refresh); err != nil || p.Alive {
		t.Errorf("%+v %v", p, err)
	}
	if status := r.revokeAs(t, till, r.refresh); status != http.StatusOK || r.counts[2] != "nothing" {
		t.Errorf("again: %d %v", status, r.counts)
	}
}

func TestUnstoredRevocationIsAnError(t *testing.T) {
	for _, raw := range []string{"live", ""} {
		r := newRig(t)
		r.feed.err = errors.New("the store is away")
		if raw == "" {
			raw = r.refresh
		}
		if status := r.revokeAs(t, till, raw); status != http.StatusServiceUnavailable || len(r.events) > 0 {
			t.Errorf("%d, %v", status, r.events)
		}
	}
}

// A token that this node knows as revoked may have been revoked by a request that was told 503, since no replica had it.
func TestRevokedTokenIsRevokedAgain(t *testing.T) {
	r := newRig(t)
	r.feed.err = errors.New("no replica")
	if status := r.revokeAs(t, till, "revoked"); status != http.StatusServiceUnavailable {
		t.Errorf("without a replica: %d", status)
	}
	r.feed.err = nil
	if status := r.revokeAs(t, till, "revoked"); status != http.StatusOK || r.counts[1] != "nothing" || len(r.events) > 0 {
		t.Errorf("with one: %d, counted %v, %v", status, r.counts, r.events)
	}
	if len(r.feed.revoked) != 2 || r.feed.revoked[1].Value != "jti" {
		t.Errorf("%+v", r.feed.revoked)
	}
	if status := r.revokeAs(t, someone, "revoked"); status != http.StatusOK || len(r.feed.revoked) != 2 {
		t.Errorf("by another client: %d, %+v", status, r.feed.revoked)
	}
}

func TestRevocationsPerUserAreLimited(t *testing.T) {
	r := newRig(t)
	for range perSubject.Limit {
		if status := r.revokeAs(t, till, "live"); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	if status := r.revokeAs(t, till, "live"); status != http.StatusTooManyRequests || len(r.feed.revoked) != perSubject.Limit {
		t.Errorf("%d after %d", status, len(r.feed.revoked))
	}
}
