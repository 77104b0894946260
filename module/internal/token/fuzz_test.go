package token

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// FuzzVerify looks for a panic, and for a string other than the two issued ones that passes or that is no clear
// refusal.
func FuzzVerify(f *testing.F) {
	n := start(f, "EdDSA")
	good := n.issue(f)
	odd := n.sign(f, nil, with(n.claims(), "aud", []string{"a", "b"}, "nbf", 0))
	part := strings.Split(good, ".")
	for _, seed := range []string{
		good, odd, "", ".", "..", "...", good + ".", good + "\n", part[0] + "." + part[1] + ".", "a.b.c",
		encode(f, `{"typ":"at+jwt","alg":"none","kid":"k"}`) + "." + part[1] + ".",
		encode(f, `{"typ":"at+jwt","alg":"HS256","kid":["k"],"crit":["x"]}`) + "." + part[1] + "." + part[2],
		encode(f, `{"alg":"PBES2-HS256+A128KW","p2c":2147483648}`) + ".AA.AA.AA.AA",
		strings.Repeat(".", maxSize), strings.Repeat("a", maxSize+1),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		a, err := n.verifier.Verify(t.Context(), raw)
		if raw == good || raw == odd {
			if err != nil {
				t.Error(err)
			}
			return
		}
		if a != nil || !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify = %v, %v", a, err)
		}
	})
}

// FuzzClaims reads claims as if they were signed by us.
func FuzzClaims(f *testing.F) {
	for _, seed := range []string{
		`{"iss":"i","sub":"s","aud":["a"],"client_id":"c","jti":"j","iat":1,"exp":2.5,"nbf":1e3,"scope":"a b","fam":"f"}`,
		`{"exp":1e400}`, `{"exp":-1}`, `[]`, `null`, `{"aud":[[]]}`, `{`, `{"exp":00}`, `{"iat": 1 }`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, ok := parseClaims(jose.Base64.EncodeToString(raw))
		if ok && (p.Issuer == "" || p.Subject == "" || p.Client == "" || p.ID == "" || len(p.Audience) == 0 ||
			p.Expires.Unix() < 0 || p.Expires.Unix() > jose.MaxTime) {
			t.Errorf("%s was taken as %+v", raw, p)
		}
	})
}

func BenchmarkVerifyCached(b *testing.B) {
	n := start(b, "ES256")
	a := n.access()
	a.Scopes = strings.Fields(strings.Repeat("scope:of:some:length ", 8))
	raw, err := n.issuer.Issue(b.Context(), a)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(raw)), "bytes")
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := n.verifier.Verify(ctx, raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyFresh(b *testing.B) {
	n := start(b, "ES256")
	raw := n.issue(b)
	for b.Loop() {
		if _, _, err := n.verifier.check(b.Context(), raw); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCachedTokenVerifiesWithoutAllocation(t *testing.T) {
	n := start(t, "ES256")
	raw, forged := n.issue(t), "garbage"
	_, _ = n.verifier.Verify(t.Context(), forged)
	ctx := t.Context()
	allocs := testing.AllocsPerRun(200, func() {
		if _, err := n.verifier.Verify(ctx, raw); err != nil {
			t.Error(err)
		}
		if _, err := n.verifier.Verify(ctx, forged); err == nil {
			t.Error("garbage passed")
		}
	})
	// Under the race detector sync.Pool drops a quarter of what it is given.
	if allocs >= 2 {
		t.Errorf("%v allocations", allocs)
	}
}

// Dots must not cost memory by their number (CVE-2025-30204), G19.
func TestTokenDotsAllocateNothing(t *testing.T) {
	n := start(t, "ES256")
	for _, raw := range []string{strings.Repeat(".", 15<<10), strings.Repeat(".", 1<<20)} {
		if allocs := testing.AllocsPerRun(100, func() { _, _ = n.verifier.Verify(t.Context(), raw) }); allocs > 1 {
			t.Errorf("%v allocations for %d dots", allocs, len(raw))
		}
	}
	if allocs := testing.AllocsPerRun(100, func() { _, _ = jose.Split(strings.Repeat(".", maxSize)) }); allocs > 1 {
		t.Errorf("split: %v allocations", allocs)
	}
}
