package supply_test

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/supply"
)

func TestSecretIsFoundInAnyEncoding(t *testing.T) { // R11
	var s supply.Secrets
	for _, secret := range []string{"p4ss w/rd!&+x", "abc", `q"u\o`, "50%41ff", "zoë😀<", "-----BEGIN KEY-----\nMIIE\r\n\tx&y=\n", `c:\new`} {
		s.Add(secret)
	}
	for _, text := range []string{
		"is p4ss w/rd!&+x wrong?", "token=p4ss+w%2Frd%21%26%2Bx", "token=p4ss%20w%2frd!%26%2bx", "token=p4ss%2520w%252Frd%2521%2526%252Bx", "100% p4ss%20w/rd!&+x", "p4ss w/rd!&amp;+x", "p4ss w&#x2F;rd!&amp;&#43;x",
		`{"token":"p4ss w\/rd!&+x"}`, "P4SS W/RD!&+X", "p4ss\n w/rd!&+x", "p4ss\tw/rd!&+x", `q"u\o`, `{"token":"q\"u\\o"}`, "q&quot;u\\o", `{"token":"p4ss w/rd!\u0026+x"}`, `p4ss w\/rd!\\u0026\\u002Bx`, `zo\u00eb\ud83d\ude00\u003c`, "50%41ff", "50%2541ff",
		`{"key":"-----BEGIN KEY-----\nMIIE\r\n\tx&y=\n"}`, `"{\"key\":\"-----BEGIN KEY-----\\nMIIE\\r\\n\\tx\\u0026y=\\n\"}"`, `c:\new`, `{"dir":"c:\\new"}`, `{"dir":"c:\\new","n":"\n"}`,
	} {
		if !s.In(text) {
			t.Errorf("%s passes", text)
		}
	}
	for _, text := range []string{"", "abc", "p4ss w/rd", "p4ss w/rd!&+", "50Aff", "%", "%2", "a&b;c", "q uo"} {
		if s.In(text) {
			t.Errorf("%s does not", text)
		}
	}
	if new(supply.Secrets).In("x") {
		t.Error("there is none")
	}
}

// A client that chooses what stands in front of a secret in a message chooses where the API cuts it. If its own text
// were withheld only where it is the beginning of a secret, it could guess that letter by letter.
func TestTruncatedTextIsAlwaysWithheld(t *testing.T) { // R11
	var s supply.Secrets
	const secret = "k3y&=token/1"
	s.Add(secret)
	for _, form := range []string{secret, "k3y%26%3Dtoken%2F1", "k3y&amp;=token/1"} {
		for n := range len(form) {
			text := "No /api.php?q=" + strings.Repeat("a", 9) + "&token=" + form[:n+1] + "…"
			if !s.In(text) {
				t.Errorf("%s passes", text)
			}
		}
	}
	for _, text := range []string{
		"a long text without it…", "No such article: k3…", "No such article: k4…", "…",
		`No such page "/a?token=k3y…".`,
	} {
		if !s.In(text) {
			t.Errorf("%s passes", text)
		}
	}
	for _, text := range []string{`No such page "/a?token=k3y...".`, "No such page /a?token=k3y...", "[input_value={'key': 'k3y...n/1'}]", "a " + secret,
		"No such page: token=k3y&hellip;", "No token k&#8230;", "No token k&#x2026;", `it says {"error":"no token k\u2026"}`, "No page &quot;/a?token=k3y...&quot;"} {
		if !s.InMessage(text) {
			t.Errorf("%s passes", text)
		}
	}
	for _, text := range []string{"Please wait...", "It is one of a, b, c, ...", "No... it is gone.", `a\u0026b`, "a&amp;b"} {
		if s.InMessage(text) {
			t.Errorf("%s does not", text)
		}
	}
	if s.In("/compare/a...b") || new(supply.Secrets).InMessage("/a?token=k3y...") {
		t.Error("there was none")
	}
}
