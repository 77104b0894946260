package userinfo

import (
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// readAccessToken reads the access token of a request: from the Authorization header or, as OpenID Connect Core
// section 5.3.1 lets a client post it, from a form (RFC 6750 section 2.2). Never from the address (section 2.3),
// where logs keep it, and never from two places, because parsers disagree about which of them counts.
func readAccessToken(r *http.Request) (string, error) {
	if hasTokenInQuery(r.URL.RawQuery) {
		return "", oauth.E(oauth.InvalidRequest, "an access token does not belong in the address")
	}
	inHeader, err := oauthhttp.BearerToken(r)
	if err != nil {
		return "", err
	}
	inBody, err := readBodyToken(r)
	switch {
	case err != nil:
		return "", err
	case inHeader != "" && inBody != "":
		return "", oauth.E(oauth.InvalidRequest, "there are two access tokens")
	case inHeader == "" && inBody == "":
		return "", oauthhttp.ErrNoToken
	}
	return inHeader + inBody, nil
}

func hasTokenInQuery(query string) bool {
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err == nil && name == "access_token" {
			return true
		}
	}
	return false
}

// readBodyToken returns "" when the request does not post a form.
func readBodyToken(r *http.Request) (string, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Method != http.MethodPost || err != nil || kind != "application/x-www-form-urlencoded" || r.ContentLength == 0 {
		return "", nil
	}
	form, err := httpx.ReadForm(r)
	if err != nil {
		return "", oauthhttp.BodyError(err, oauth.InvalidRequest)
	}
	return form.Get("access_token"), nil
}
