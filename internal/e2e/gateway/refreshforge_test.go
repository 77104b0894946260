package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"testing"
)

// F07: an access token names its family, and generations are small numbers. Who has seen
// one must neither be able to make a refresh token of that, nor to end the grant by trying.
func TestRefreshTokenCannotBeForgedFromAnAccessToken(t *testing.T) {
	g, _ := startSite(t, trustingSite, "$TOKENS", "refresh_grace 0s")
	access, refresh := wantTokens(t, g.Token(t, web, exchange(newCoder(t, g).code("web"), callback)))
	genuine, err := base64.RawURLEncoding.DecodeString(refresh)
	if err != nil {
		t.Fatal(err)
	}
	family, ok := claimsOf(t, access)["fam"].(string)
	id, err := base64.RawURLEncoding.DecodeString(family)
	if err != nil || !ok || !bytes.HasPrefix(genuine, id) {
		t.Fatalf("the refresh token does not begin with its family %q", family)
	}
	mac := genuine[len(id)+8:]
	forged := func(generation uint64, mac []byte) string {
		return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(bytes.Clone(id), generation), mac...))
	}
	if forged(1, mac) != refresh {
		t.Fatal("the form of a refresh token is another one")
	}
	flipped := bytes.Clone(mac)
	flipped[len(flipped)-1] ^= 1
	for generation := range uint64(4) {
		for name, mac := range map[string][]byte{"zeros": make([]byte, len(mac)), "one bit": flipped, "of another generation": mac, "short": mac[:16], "none": nil} {
			if generation == 1 && name == "of another generation" {
				continue // the genuine one
			}
			sent := forged(generation, mac)
			wantOAuth(t, g.Token(t, web, refreshWith(sent)), http.StatusBadRequest, "invalid_grant")
			wantRevoked(t, at(t, g, "/revoke", web, tokenForm(sent)))
			wantInactive(t, at(t, g, "/introspect", web, tokenForm(sent), "X-Forwarded-For", somebody()))
		}
	}
	if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
		t.Errorf("the grant is dead: %d", p.Status)
	}
	wantTokens(t, g.Token(t, web, refreshWith(refresh)))
}
