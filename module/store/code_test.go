package store

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestCodeIsClaimedAndUsedByOneExchange(t *testing.T) {
	code := Code{State: CodeIssued, Client: "c"}
	claimed, ok := code.Claim("first")
	if !ok || claimed.State != CodeClaimed || claimed.Attempt != "first" || claimed.Client != "c" {
		t.Fatalf("Claim = %+v, %v", claimed, ok)
	}
	if code.State != CodeIssued || code.Attempt != "" {
		t.Error("the record that was read must stay as it is: it is what Swap compares")
	}
	for _, other := range []string{"second", ""} {
		if again, ok := claimed.Claim(other); ok || again.Attempt != "first" {
			t.Errorf("a second claim = %+v, %v", again, ok)
		}
		if v, ok := claimed.Use(other); ok || v.State != CodeClaimed {
			t.Errorf("another exchange used the code: %+v", v)
		}
		if v, ok := claimed.Release(other); ok || v.State != CodeClaimed {
			t.Errorf("another exchange released the code: %+v", v)
		}
	}
	used, ok := claimed.Use("first")
	if !ok || used.State != CodeUsed {
		t.Errorf("Use = %+v, %v", used, ok)
	}
	free, ok := claimed.Release("first")
	if !ok || free.State != CodeIssued || free.Attempt != "" {
		t.Errorf("Release = %+v, %v", free, ok)
	}
}

// A used code stays for weeks: what its grant has is not kept twice, and who may redeem it is still told from others.
func TestUsedCodeIsSmallAndStillBound(t *testing.T) {
	const uri, verifier = "https://client.example/callback", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	full := Code{
		State: CodeClaimed, Attempt: "a", Dialect: DialectOAuth, Client: "c", Subject: "s", Scopes: []string{"read"}, RedirectURI: uri,
		Challenge: oauth.Challenge(verifier), Grant: "AAAAAAAAAAAAAAAAAAAAAA", Session: digest("session"), Epochs: Epochs{Subject: 7},
	}
	grant := Grant{Client: "c", Subject: "s", Scopes: []string{"read"}, Epochs: full.Epochs}
	used, ok := full.Use("a")
	value, err := Encode(&used)
	if !ok || err != nil || len(value) > 160 || !used.Trimmed() {
		t.Fatalf("%d bytes, %v, %v: %s", len(value), ok, err, value)
	}
	for _, test := range []struct{ uri, verifier, wantURI, wantChallenge string }{
		{uri, verifier, uri, full.Challenge},
		{"", verifier, unknown, full.Challenge},
		{"https://other.example", "", unknown, unknown},
	} {
		got := used.Restore(grant, test.uri, test.verifier)
		if got.Client != "c" || got.Subject != "s" || got.Epochs != full.Epochs || got.RedirectURI != test.wantURI || got.Challenge != test.wantChallenge {
			t.Errorf("%+v: %+v", test, got)
		}
	}
	bare, _ := Code{State: CodeClaimed, Attempt: "a"}.Use("a")
	if got := bare.Restore(grant, uri, verifier); got.RedirectURI != "" || got.Challenge != "" {
		t.Errorf("without either: %+v", got)
	}
	if (Code{State: CodeUsed, Client: "c"}).Trimmed() {
		t.Error("the used code of an earlier release counts as trimmed")
	}
}

func TestCodeStatesAllowOnlyTheirTransitions(t *testing.T) {
	for _, c := range []struct {
		state                         CodeState
		claim, use, release, takeBack bool
	}{
		{CodeIssued, true, false, false, true},
		{CodeClaimed, false, true, true, true},
		{CodeUsed, false, false, false, false},
		{CodeRevoked, false, false, false, false},
		{"", false, false, false, false},
		{"ISSUED", false, false, false, false},
		{"pending", false, false, false, false},
	} {
		v := Code{State: c.state, Attempt: "a", Grant: "g"}
		for name, move := range map[string]struct {
			may bool
			do  func() (Code, bool)
		}{
			"claim":   {c.claim, func() (Code, bool) { return v.Claim("a") }},
			"use":     {c.use, func() (Code, bool) { return v.Use("a") }},
			"release": {c.release, func() (Code, bool) { return v.Release("a") }},
			"revoke":  {c.takeBack, v.Revoke},
		} {
			after, ok := move.do()
			if ok != move.may || !ok && after.State != c.state || after.Grant != "g" {
				t.Errorf("%s of a code in the state %q: %+v, %v", name, c.state, after, ok)
			}
		}
	}
}

func TestCodeIsDeliveredOnce(t *testing.T) {
	first := time.Unix(100, 0)
	given, ok := Code{State: CodeIssued}.Deliver(first)
	if !ok || !given.Expires.Equal(first) {
		t.Fatalf("Deliver = %+v, %v", given, ok)
	}
	if again, ok := given.Deliver(first.Add(time.Hour)); ok || !again.Expires.Equal(first) {
		t.Errorf("a second delivery = %+v, %v", again, ok)
	}
	for _, state := range []CodeState{"", CodeClaimed, CodeUsed, CodeRevoked} {
		if v, ok := (Code{State: state}).Deliver(first); ok || !v.Expires.IsZero() {
			t.Errorf("a code in the state %q was delivered", state)
		}
	}
}
