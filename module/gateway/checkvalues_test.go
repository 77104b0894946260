package gateway

import (
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestNonsenseInJSONIsRefusedByName(t *testing.T) {
	negative := caddy.Duration(-1)
	for want, a := range map[string]App{
		"tokens: code":            {Tokens: Tokens{Code: -1}},
		"tokens: access":          {Tokens: Tokens{Access: math.MaxInt64}},
		"tokens: refresh":         {Tokens: Tokens{Refresh: math.MaxInt64}},
		"tokens: refresh_grace":   {Tokens: Tokens{RefreshGrace: &negative}},
		"session: absolute":       {Session: Session{Absolute: -1}},
		"session: idle":           {Session: Session{Idle: caddy.Duration(time.Millisecond)}},
		"protect: lockout":        {Protect: Protect{Lockout: -1}},
		"login_failures":          {Protect: Protect{LoginFailures: -1}},
		"per_address":             {Protect: Protect{PerAddress: -1}},
		"hash_concurrency":        {Protect: Protect{HashConcurrency: -1}}, // it panicked
		"an audience is empty":    {Tokens: Tokens{Audience: []string{""}}},
		"expected a placeholder":  {Secrets: []string{"0123456789-0123456789-0123456789"}},
		"secret 2":                {Secrets: []string{"{env.A}", "0123456789-0123456789-0123456789"}},
		"revocation_max_stale":    {RevocationMaxStale: -1},
		"require_state: expected": {RequireState: "never"},
	} {
		if err := a.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	if err := (&App{}).check(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

func TestAnIssuerHasAPlainPath(t *testing.T) {
	for issuer, ok := range map[string]bool{
		"https://id.example": true, "https://id.example/auth": true, "http://localhost:9080/a/b": true,
		"https://id.example/a/../b": false, "https://id.example//a": false, "https://id.example/a%2Fb": false,
		"https://id.example/a b": false, "https://id.example/": false, "http://id.example": false,
	} {
		if _, err := ParseIssuer(issuer, caddy.NewReplacer()); (err == nil) != ok {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}

func TestAPolicyCountsByAKnownKey(t *testing.T) {
	for by, ok := range map[string]bool{"client": true, "all": true, "t-{http.request.host}": true, "": false, "clinet": false} {
		err := Policy{Name: "a", By: by, Limit: 1, Window: caddy.Duration(time.Second)}.Check()
		if (err == nil) != ok {
			t.Errorf("by %q: %v", by, err)
		}
	}
}

func TestTheDefaultLimiterHasAName(t *testing.T) {
	p := Policy{Name: "client"}
	if p.build("").Limiter != p.build("default").Limiter {
		t.Error("`limiter default` is another one than the default")
	}
}

func TestExemptAreClientsAddressesAndRanges(t *testing.T) {
	app := &App{clients: &clients{byID: map[string]*oauth.Client{"nightly": {}}}}
	l := &Limit{app: app, Exempt: []string{"nightly", "192.0.2.7", "10.1.2.3/8", "2001:db8::1", "::ffff:192.0.2.8"}}
	if err := l.buildExempt(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range l.ranges {
		got = append(got, p.String())
	}
	if want := []string{"192.0.2.7/32", "10.0.0.0/8", "2001:db8::1/128", "192.0.2.8/32"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !l.clients["nightly"] || !l.ranges[0].Contains(netip.MustParseAddr("192.0.2.7")) {
		t.Error("not exempt")
	}
	for _, bad := range []string{"nigthly", "10.0.0.0/33", "300.0.0.1"} {
		if err := (&Limit{app: app, Exempt: []string{bad}}).buildExempt(); err == nil {
			t.Errorf("%s is taken for a client", bad)
		}
	}
}
