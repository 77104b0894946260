package oauth

import (
	"strings"
	"testing"
)

// The example of RFC 7636 appendix B.
const (
	rfcVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	rfcChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

func TestChallengeFollowsTheRFC(t *testing.T) {
	if got := Challenge(rfcVerifier); got != rfcChallenge {
		t.Error(got)
	}
	if !CheckPKCE(rfcChallenge, rfcVerifier) {
		t.Error("the example of the RFC does not pass")
	}
}

func TestInvalidCodeChallengesAreRefused(t *testing.T) {
	if !ValidChallenge(rfcChallenge) {
		t.Error("a good one was refused")
	}
	for _, s := range []string{
		"", "x", rfcChallenge + "=", rfcChallenge[:42], rfcChallenge + "A", strings.Replace(rfcChallenge, "-", "+", 1),
		rfcChallenge[:42] + "N", // a digest has no bits there
		rfcChallenge[:20] + "\n" + rfcChallenge[20:], " " + rfcChallenge[1:],
	} {
		if ValidChallenge(s) {
			t.Errorf("%q was taken", s)
		}
	}
}

func TestVerifierMustMatchTheChallenge(t *testing.T) { // C07
	for _, c := range []struct {
		name, challenge, verifier string
		want                      bool
	}{
		{"neither", "", "", true},
		{"right", rfcChallenge, rfcVerifier, true},
		{"missing", rfcChallenge, "", false},
		{"a verifier without a challenge", "", rfcVerifier, false}, // RFC 9700 section 4.8.2
		{"another", rfcChallenge, rfcVerifier[:42] + "x", false},
		{"the challenge itself", rfcChallenge, rfcChallenge, false},
		{"42 characters", Challenge(strings.Repeat("a", 42)), strings.Repeat("a", 42), false},
		{"43 characters", Challenge(strings.Repeat("a", 43)), strings.Repeat("a", 43), true},
		{"128 characters", Challenge(strings.Repeat("a", 128)), strings.Repeat("a", 128), true},
		{"129 characters", Challenge(strings.Repeat("a", 129)), strings.Repeat("a", 129), false},
		{"all that are allowed", Challenge("-._~" + strings.Repeat("Zz0", 13)), "-._~" + strings.Repeat("Zz0", 13), true},
		{"an illegal character", Challenge(strings.Repeat("a", 42) + "+"), strings.Repeat("a", 42) + "+", false},
		{"not ASCII", Challenge(strings.Repeat("\u00e9", 22)), strings.Repeat("\u00e9", 22), false},
	} {
		if CheckPKCE(c.challenge, c.verifier) != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
	}
}
