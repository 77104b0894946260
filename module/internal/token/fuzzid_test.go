package token

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// FuzzReadHint looks for a panic, and for a hint other than the issued one that passes.
func FuzzReadHint(f *testing.F) {
	n := start(f, "EdDSA")
	good := n.issueID(f, "EdDSA")
	part := strings.Split(good, ".")
	for _, seed := range []string{
		good, n.issue(f), "", "..", good + ".", part[0] + "." + part[1] + ".",
		encode(f, `{"typ":"JWT","alg":"none","kid":"k"}`) + "." + part[1] + ".",
		encode(f, `{"typ":"JWT","alg":"HS256","kid":["k"],"crit":["x"]}`) + "." + part[1] + "." + part[2],
		strings.Repeat("a", maxIDSize+1),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		id, err := n.issuer.ReadHint(t.Context(), raw)
		switch {
		case raw == good && err != nil:
			t.Error(err)
		case raw != good && (id.Subject != "" || !errors.Is(err, ErrInvalid)):
			t.Errorf("ReadHint = %+v, %v", id, err)
		}
	})
}

// FuzzIDClaims reads claims as if they were signed by us.
func FuzzIDClaims(f *testing.F) {
	for _, seed := range []string{
		`{"iss":"i","sub":"s","aud":"c","azp":"c","iat":1,"exp":2.5,"auth_time":3,"nonce":"n","sid":"s"}`,
		`{"iss":"i","sub":"s","aud":["c"],"azp":"c","iat":1,"exp":2}`, `null`, `[]`, `{"iat":1e400}`, `{"auth_time":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		id, issuer, ok := parseID(jose.Base64.EncodeToString(raw))
		if ok && (id.Subject == "" || id.Client == "" || issuer == "" || id.Expires.Unix() < 0) {
			t.Errorf("%s was taken as %+v", raw, id)
		}
	})
}
