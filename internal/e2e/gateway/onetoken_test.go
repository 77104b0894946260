package gateway

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// I07: there is no form for many tokens at once. Several of them are a mistake that is
// told, never an answer about one of them, and nothing of them is revoked.
func TestRequestNamesExactlyOneToken(t *testing.T) {
	g, _ := startSite(t, trustingSite)
	c := newCoder(t, g)
	one, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
	two, _ := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
	many := url.Values{}
	for i := range 1001 {
		many.Add("token", "t"+strconv.Itoa(i))
	}
	for name, form := range map[string]url.Values{
		"two tokens": {"token": {one, two}}, "the same twice": {"token": {one, one}}, "a good and a bad one": {"token": {one, "x"}},
		"the bad one first": {"token": {"x", one}}, "an empty one too": {"token": {"", one}}, "1,001 of them": many,
		"two hints":      {"token": {one}, "token_type_hint": {"access_token", "refresh_token"}},
		"a list by name": {"token[]": {one, two}}, "a list by plural": {"tokens": {one + "," + two}},
	} {
		for _, path := range []string{"/introspect", "/revoke"} {
			t.Run("I07 "+path+" "+name, func(t *testing.T) {
				p := at(t, g, path, web, form, "X-Forwarded-For", somebody())
				wantOAuth(t, p, http.StatusBadRequest, "invalid_request")
			})
		}
	}
	t.Run("I07 several in one value are no token", func(t *testing.T) {
		for _, both := range []string{one + "," + two, one + " " + two, one + "\n" + two} {
			wantInactive(t, at(t, g, "/introspect", web, tokenForm(both), "X-Forwarded-For", somebody()))
			wantRevoked(t, at(t, g, "/revoke", web, tokenForm(both)))
		}
		body := `[{"token":"` + one + `"}]`
		p := send(t, harness.NewBrowser(t, ""), http.MethodPost, g.ID+"/introspect", body, "Content-Type", "application/json", "Authorization", basic(web.ID, web.Secret))
		wantOAuth(t, p, http.StatusUnsupportedMediaType, "invalid_request")
	})
	t.Run("I07 both are alive afterwards", func(t *testing.T) {
		for _, a := range []string{one, two} {
			wantActive(t, at(t, g, "/introspect", web, tokenForm(a)))
		}
	})
}
