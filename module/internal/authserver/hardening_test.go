package authserver_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/quickest"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestUnknownClientAndWrongSecretLookAlike(t *testing.T) { // T08
	g := newTokenRig(t)
	for _, c := range []struct{ known, unknown func() answer }{
		{
			func() answer { return g.token(params{"grant_type": "x"}, "Authorization", basic("web", "wrong")) },
			func() answer { return g.token(params{"grant_type": "x"}, "Authorization", basic("bew", "wrong")) },
		},
		{
			func() answer { return g.token(params{"client_id": "web", "client_secret": "wrong"}) },
			func() answer { return g.token(params{"client_id": "bew", "client_secret": "wrong"}) },
		},
		{
			func() answer { return g.token(params{"client_id": "web"}) },
			func() answer { return g.token(params{"client_id": "bew"}) },
		},
		{
			func() answer { return g.token(params{"client_id": "spa", "client_secret": "wrong"}) },
			func() answer { return g.token(params{"client_id": "aps", "client_secret": "wrong"}) },
		},
	} {
		for range 15 { // the throttle must not tell them apart either
			known, unknown := c.known(), c.unknown()
			if known.status != unknown.status || known.body != unknown.body ||
				!maps.EqualFunc(known.header, unknown.header, slices.Equal[[]string]) {
				t.Fatalf("%d %s %v\n%d %s %v", known.status, known.body, known.header, unknown.status, unknown.body, unknown.header)
			}
		}
		g.pass(time.Minute)
	}
}

func TestThousandsOfParametersCostLittle(t *testing.T) { // T23
	g := newTokenRig(t)
	var body strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&body, "p%d=1&", i)
	}
	form := body.String()
	const most = 20 * time.Millisecond
	used := uint64(1 << 40)
	took := quickest.Of(5, most, func() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		g.want(g.do("POST", tokenIssuer+"/token", form), 400, "invalid_request")
		runtime.ReadMemStats(&after)
		used = min(used, after.TotalAlloc-before.TotalAlloc)
	})
	if took > most || used > 2<<20 {
		t.Errorf("took %v and %d bytes", took, used)
	}
}

func TestSecretsAreNeitherShownNorLogged(t *testing.T) {
	g := newTokenRig(t)
	code := g.code()
	first := g.want(g.token(redeemWeb(code)), 200, "")
	canaries := []string{code, webSecret, "guessed-secret", first.tokens.Access, first.tokens.Refresh}
	answers := []answer{
		g.token(redeemWeb(code)),
		g.token(redeemWeb(code).with("client_secret", "guessed-secret")),
		g.token(params{"grant_type": "x"}, "Authorization", basic("web", "guessed-secret")),
		g.token(refreshWeb(first.tokens.Refresh)),
		g.do("POST", tokenIssuer+"/token?code="+code, ""),
	}
	g.store.Fail(errors.New("down"))
	answers = append(answers, g.token(redeemWeb(code)), g.token(refreshWeb(first.tokens.Refresh)))
	for _, secret := range canaries {
		if strings.Contains(g.log.String(), secret) {
			t.Errorf("%.8s... is logged", secret)
		}
		for _, a := range answers {
			if strings.Contains(a.body+fmt.Sprint(a.header), secret) {
				t.Errorf("%.8s... is told: %s", secret, a.body)
			}
		}
	}
}

func TestClientInputIsInNoErrorOrMetric(t *testing.T) {
	g := newTokenRig(t)
	evil := "\"<script>\\\r\nX: y"
	for _, name := range []string{"grant_type", "client_id", "code", "redirect_uri", "refresh_token", "scope", "resource", "code_verifier"} {
		for _, p := range []params{redeemWeb("x"), refreshWeb("x"), {"grant_type": "client_credentials", "client_id": "web", "client_secret": webSecret}} {
			a := g.token(p.with(name, evil))
			if strings.Contains(a.body, "<script") || strings.Contains(fmt.Sprint(a.header), "<script") || a.status >= 500 {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
			if strings.Contains(g.metrics.last(), "<script") {
				t.Errorf("%s is a label", g.metrics.last())
			}
			if strings.ContainsAny(a.tokens.Text, "\"\\\r\n") {
				t.Errorf("error_description %q", a.tokens.Text)
			}
		}
	}
	g.want(g.token(params{"grant_type": "evil", "client_id": "spa"}), 400, "unsupported_grant_type")
	if g.metrics.last() != "other unsupported_grant_type" {
		t.Error(g.metrics.last())
	}
}

func TestUserCannotPoseAsAClient(t *testing.T) { // K01
	g := newTokenRig(t, func(c *authserver.Config) {
		c.Directory = directorytest.NewMemory(directorytest.Seed{User: directory.User{ID: "client:web", Username: "eve"}})
	})
	g.want(g.token(redeemWeb(g.code(func(c *store.Code) { c.Subject = "client:web" }))), 400, "invalid_grant")
}

func TestVariantBGrantHasNoOAuthRefreshToken(t *testing.T) {
	g := newTokenRig(t)
	var family string
	p := redeemWeb(g.code(func(c *store.Code) { family = c.Grant }))
	first := g.want(g.token(p), 200, "")
	record, err := g.store.Memory.Get(t.Context(), store.Key{Kind: store.KindGrant, ID: family})
	g.must(err)
	var grant store.Grant
	g.must(store.Decode(record.Value, &grant))
	grant.Dialect = store.DialectVariantB
	record.Value = must(store.Encode(&grant))
	_, err = g.store.Memory.Swap(t.Context(), record)
	g.must(err)
	g.want(g.token(refreshWeb(first.tokens.Refresh)), 400, "invalid_grant")
}

func TestRecordOfANewerReleaseIsNotMisread(t *testing.T) {
	g := newTokenRig(t)
	var family string
	first := g.want(g.token(redeemWeb(g.code(func(c *store.Code) { family = c.Grant }))), 200, "")
	record, err := g.store.Memory.Get(t.Context(), store.Key{Kind: store.KindGrant, ID: family})
	g.must(err)
	for _, newer := range []string{`{"v":2}`, "\x03" + string(record.Value[1:])} {
		record.Value = []byte(newer)
		record, err = g.store.Memory.Swap(t.Context(), record)
		g.must(err)
		g.want(g.token(refreshWeb(first.tokens.Refresh)), 503, "temporarily_unavailable")
	}
}

func TestTokensAreUnique(t *testing.T) { // T20, the short form
	g := newTokenRig(t)
	seen := map[string]bool{}
	for range 200 {
		a := g.begin()
		for _, token := range []string{a.tokens.Access, a.tokens.Refresh, a.tokens.Refresh[:16]} {
			if seen[token] {
				t.Fatal("a token, or the beginning of a refresh token, came twice")
			}
			seen[token] = true
		}
	}
}
