package quickstart

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	username = "alice"
	password = harness.Password
)

// signIn is the person in front of a stock client: from the client's authorization
// address to the address that the browser is sent back to.
func (s *stand) signIn(t *testing.T, address string) *url.URL {
	t.Helper()
	return harness.NewBrowser(t, s.issuer).Authorize(address, username, password)
}

func TestGoClientSignsIn(t *testing.T) {
	s := start(t)
	endpoint := oauth2.Endpoint{AuthURL: s.issuer + "/authorize", TokenURL: s.issuer + "/token"}
	styled := func(style oauth2.AuthStyle) oauth2.Endpoint {
		e := endpoint
		e.AuthStyle = style
		return e
	}
	web := oauth2.Config{ClientID: "reader-web", ClientSecret: s.Secret(t, "READER_SECRET"), RedirectURL: s.reader + "/callback", Scopes: []string{"articles:read", "articles:write"}}
	spa := oauth2.Config{ClientID: "reader-spa", RedirectURL: s.reader + "/spa", Scopes: []string{"articles:read"}}
	for name, c := range map[string]struct {
		config   oauth2.Config
		endpoint oauth2.Endpoint
	}{
		"a secret in the header":     {web, styled(oauth2.AuthStyleInHeader)},
		"a secret in the body":       {web, styled(oauth2.AuthStyleInParams)},
		"a secret, found out":        {web, endpoint},
		"no secret":                  {spa, styled(oauth2.AuthStyleInParams)},
		"no secret, found out":       {spa, endpoint},
		"no secret and default ones": {oauth2.Config{ClientID: spa.ClientID, RedirectURL: spa.RedirectURL}, endpoint},
	} {
		t.Run(name, func(t *testing.T) {
			config := c.config
			config.Endpoint = c.endpoint
			verifier, state := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
			back := s.signIn(t, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)))
			q := back.Query()
			if !strings.HasPrefix(back.String(), config.RedirectURL+"?") || q.Get("state") != state || q.Get("iss") != s.issuer {
				t.Fatalf("the browser came back to %s", back)
			}
			tok, err := config.Exchange(t.Context(), q.Get("code"), oauth2.VerifierOption(verifier))
			if err != nil {
				t.Fatal(err)
			}
			if left := time.Until(tok.Expiry); tok.Type() != "Bearer" || left < 59*time.Minute || left > time.Hour {
				t.Errorf("a %s token for %v", tok.Type(), left)
			}
			s.reads(t, config.Client(t.Context(), tok))

			// An expired token is refreshed on the way, with the refresh token rotated.
			old := *tok
			old.Expiry = time.Now().Add(-time.Minute)
			source := config.TokenSource(t.Context(), &old)
			fresh, err := source.Token()
			if err != nil {
				t.Fatal(err)
			}
			if fresh.AccessToken == tok.AccessToken || fresh.RefreshToken == tok.RefreshToken || fresh.RefreshToken == "" {
				t.Error("the refresh gave the same tokens")
			}
			s.reads(t, oauth2.NewClient(t.Context(), source))
		})
	}
}

func TestGoClientUsesClientCredentials(t *testing.T) {
	s := start(t)
	for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleAutoDetect, oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams} {
		config := clientcredentials.Config{
			ClientID: "nightly", ClientSecret: s.Secret(t, "NIGHTLY_SECRET"), TokenURL: s.issuer + "/token",
			Scopes: []string{"articles:read"}, AuthStyle: style,
		}
		tok, err := config.Token(t.Context())
		if err != nil {
			t.Fatalf("style %d: %v", style, err)
		}
		if tok.RefreshToken != "" {
			t.Errorf("style %d: a program got a refresh token", style)
		}
		s.reads(t, config.Client(t.Context()))
	}
	wrong := clientcredentials.Config{ClientID: "nightly", ClientSecret: strings.Repeat("x", 43), TokenURL: s.issuer + "/token", Scopes: []string{"articles:read"}}
	_, err := wrong.Token(t.Context())
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); !ok || refused.ErrorCode != "invalid_client" {
		t.Errorf("a wrong secret: %v", err)
	}
}

// reads lets a client read articles through the gateway.
func (s *stand) reads(t *testing.T, c *http.Client) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.api+"/articles?limit=2", nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := harness.Do(t, c, r); p.Status != http.StatusOK || !strings.Contains(p.Body, `"title":`) {
		t.Errorf("the articles: %d %.300s", p.Status, p.Body)
	}
}
