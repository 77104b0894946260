package clientauth

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const (
	// maxBasic is the longest Authorization header that is decoded: Caddy takes headers of a megabyte.
	maxBasic = 8 << 10
	// maxPart is the longest client id or secret; nothing longer can be configured to match.
	maxPart = 2048
)

// credentials are those of a request: one pair, or two if a Basic header reads differently with and without form
// decoding.
type credentials struct {
	basic bool
	pairs []pair
	// assertion is a signed assertion instead of a secret, "" for none; the pair then has the client that it claims
	// to be of.
	assertion string
	// app says that these are the appid and secret of a client of Variant B.
	app bool
	// known is the client_id once a client was found that has it, else "".
	known string
}

type pair struct{ id, secret string }

// method is how the client authenticates, by its name in the metadata.
func (c credentials) method() string {
	switch {
	case c.assertion != "":
		return oauth.PrivateKeyJWT
	case c.basic:
		return "client_secret_basic"
	}
	return "client_secret_post"
}

// canGuess reports whether there is a secret or an assertion, with which somebody could guess.
func (c credentials) canGuess() bool {
	return c.assertion != "" || len(c.pairs) > 0 && c.pairs[0].secret != ""
}

// readCredentials finds the credentials of a request. Errors are [oauth.Error] and say that the credentials are
// ambiguous or malformed, whoever the client is.
func readCredentials(r *http.Request, form httpx.Form) (credentials, error) {
	id, secret := form.Get("client_id"), form.Get("client_secret")
	header := r.Header.Values("Authorization")
	asserts := form.Get("client_assertion") != "" || form.Get("client_assertion_type") != ""
	switch {
	case len(header) > 1:
		return credentials{}, oauth.E(oauth.InvalidRequest, "there are several Authorization headers")
	case asserts && (len(header) > 0 || secret != ""):
		return credentials{}, oauth.E(oauth.InvalidRequest, "the client authenticates in two ways at once")
	case asserts:
		return readAssertion(form)
	case len(header) == 0:
		if id == "" {
			return credentials{}, oauth.E(oauth.InvalidClient, "the request names no client")
		}
		return credentials{pairs: []pair{{id, secret}}}, nil
	}
	scheme, value, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "Basic") {
		return credentials{basic: true}, oauth.E(oauth.InvalidClient, "clients authenticate with Basic or in the body")
	}
	if secret != "" {
		return credentials{}, oauth.E(oauth.InvalidRequest, "the client authenticates in two ways at once")
	}
	pairs, ok := parseBasic(strings.TrimLeft(value, " "))
	if !ok {
		return credentials{}, oauth.E(oauth.InvalidRequest, "the Authorization header is malformed")
	}
	if id != "" {
		kept := pairs[:0]
		for _, p := range pairs {
			if p.id == id {
				kept = append(kept, p)
			}
		}
		if len(kept) == 0 {
			return credentials{}, oauth.Parameter("client_id", "differs from the one in the Authorization header")
		}
		pairs = kept
	}
	return credentials{basic: true, pairs: pairs}, nil
}

// parseBasic reads the value behind the scheme. By RFC 6749 section 2.3.1 the two parts are form-encoded, but many
// libraries do not encode them. So the decoded reading comes first, and the raw one second if it differs.
func parseBasic(value string) ([]pair, bool) {
	if len(value) > maxBasic {
		return nil, false
	}
	plain, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil {
		return nil, false
	}
	rawID, rawSecret, found := strings.Cut(string(plain), ":")
	if !found {
		return nil, false
	}
	raw := pair{rawID, rawSecret}
	id, errID := url.QueryUnescape(rawID)
	secret, errSecret := url.QueryUnescape(rawSecret)
	decoded := pair{id, secret}
	var pairs []pair
	if errID == nil && errSecret == nil && decoded.clean() {
		pairs = append(pairs, decoded)
	}
	if (len(pairs) == 0 || raw != decoded) && raw.clean() {
		pairs = append(pairs, raw)
	}
	return pairs, len(pairs) > 0
}

func (p pair) clean() bool {
	return p.id != "" && utf8.ValidString(p.id) && utf8.ValidString(p.secret) &&
		!strings.Contains(p.id, "\x00") && !strings.Contains(p.secret, "\x00")
}
