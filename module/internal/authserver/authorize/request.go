package authorize

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// What the keys' secret is used for here.
const (
	useRequest = "request"
	useCode    = "code"
)

// Request is an authorization request that was checked, on its way through the pages. It is not stored: it travels in
// the forms, sealed so that nobody can read or change it, and bound to the browser's cookie so that nobody can go on
// with the request of another (the attack of CVE-2022-39222).
type Request struct {
	// ID is used for one code only.
	ID string `json:"id"`
	// Dialect is in which words it was asked, "" for OAuth.
	Dialect     store.Dialect `json:"dialect,omitempty"`
	Client      string        `json:"client"`
	RedirectURI string        `json:"redirect_uri"`
	Scopes      []string      `json:"scopes"`
	State       string        `json:"state,omitempty"`
	Challenge   string        `json:"challenge,omitempty"`
	Nonce       string        `json:"nonce,omitempty"`
	// Implicit is response_type=token; otherwise a code is asked for.
	Implicit bool `json:"implicit,omitempty"`
	// Pushed is where the request is stored that this was made from, "" for none.
	Pushed string `json:"pushed,omitempty"`
	// Resources are the audiences asked for (RFC 8707), none for all the client's.
	Resources []string `json:"resources,omitempty"`
	// Hint is the subject of id_token_hint, the only one who may be answered for; "" for anybody.
	Hint    string    `json:"hint,omitempty"`
	Created time.Time `json:"at"`
	// AuthAfter is the moment since which the user must have signed in, for prompt=login and max_age; zero: any time.
	AuthAfter time.Time `json:"auth_after,omitzero"`
	// AskAgain is prompt=consent.
	AskAgain bool `json:"ask,omitempty"`
	// Shown is what the consent page in front of the user says about the client, "" before
	// there is one: see consent.PageOf.
	Shown string `json:"shown,omitempty"`
	// Pair is the epoch of client and user when that page was made.
	Pair    int64  `json:"pair,omitempty"`
	Locales string `json:"locales,omitempty"`
}

func (q *Request) callback() page.Callback {
	return page.Callback{URI: q.RedirectURI, State: q.State, Fragment: q.Implicit, VariantB: q.variantB()}
}

func (q *Request) variantB() bool { return q.Dialect == store.DialectVariantB }

func (q *Request) dialect() store.Dialect {
	if q.Dialect == "" {
		return store.DialectOAuth
	}
	return q.Dialect
}

func (q *Request) responseType() string {
	if q.Implicit {
		return responseToken
	}
	return responseCode
}

// allowsUser reports whether somebody who signed in then may be answered for.
func (q *Request) allowsUser(subject string, authTime time.Time) bool {
	return !authTime.Before(q.AuthAfter) && (q.Hint == "" || q.Hint == subject)
}

// refuse returns an error that is sent to the client by redirect. In Variant B the only such error is the user's
// denial; for all others the user sees a page.
func (q *Request) refuse(code oauth.Code, description string) error {
	if q.variantB() && code != oauth.AccessDenied {
		return oauth.E(oauth.InvalidRequest, description)
	}
	return page.SendBack(q.callback(), oauth.E(code, description))
}

// seal returns the form's value. Without the HTML escapes of json.Marshal it is at most three
// times as long as the query it came from, below the limit of a body.
func (q *Request) seal(b session.Browser) (string, error) {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(q); err != nil {
		return "", err
	}
	return b.Seal(useRequest, plain.Bytes()), nil
}

// open decrypts the request that a form sent back. One of another browser, or one that was changed, is 403; for one
// that took too long the error page offers to start again.
func (e *Endpoint) open(b session.Browser, sealed string) (*Request, error) {
	plain, err := b.Open(useRequest, sealed)
	if err != nil {
		return nil, refusal.Forbid()
	}
	q := new(Request)
	if err := json.Unmarshal(plain, q); err != nil {
		return nil, refusal.Forbid()
	}
	if e.Now().Sub(q.Created) < e.RequestLife {
		return q, nil
	}
	expired := error(refusal.New(http.StatusBadRequest, refusal.Expired, ""))
	// The hint itself is not kept, and without it anybody could be answered for. What was pushed
	// was not to be seen in an address.
	if q.Hint == "" && q.Pushed == "" {
		expired = page.WithView(expired, func(v *webui.ErrorView) { v.Retry = e.again(q) })
	}
	return nil, expired
}

// again is the path at which the request can be made once more.
func (e *Endpoint) again(q *Request) string {
	if q.variantB() {
		return query.AppendTo(e.Site.Base+page.ConnectAuthorizePath, q.ConnectParams()...)
	}
	return query.AppendTo(e.Site.Base+page.AuthorizePath, q.params()...)
}

// params are names and values with which the request can be made once more.
func (q *Request) params() []string {
	all := []string{"response_type", q.responseType(), "client_id", q.Client, "redirect_uri", q.RedirectURI, "scope", oauth.JoinScopes(q.Scopes)}
	add := func(name, value string) {
		if value != "" {
			all = append(all, name, value)
		}
	}
	add("state", q.State)
	if q.Challenge != "" {
		all = append(all, "code_challenge", q.Challenge, "code_challenge_method", "S256")
	}
	add("nonce", q.Nonce)
	for _, r := range q.Resources {
		add("resource", r)
	}
	add("ui_locales", q.Locales)
	switch {
	case !q.AuthAfter.IsZero() && q.AskAgain:
		add("prompt", "login consent")
	case !q.AuthAfter.IsZero():
		add("prompt", "login")
	case q.AskAgain:
		add("prompt", "consent")
	}
	return all
}

// ConnectParams are names and values with which a request of Variant B can be made once more.
func (q *Request) ConnectParams() []string {
	all := []string{
		"appid", q.Client, "redirect_uri", q.RedirectURI, "response_type", responseCode,
		"scope", strings.Join(q.Scopes, ","),
	}
	if q.State != "" {
		all = append(all, "state", q.State)
	}
	if q.Challenge != "" {
		all = append(all, "code_challenge", q.Challenge, "code_challenge_method", "S256")
	}
	for sent, meant := range connectLanguages {
		if q.Locales == meant {
			all = append(all, "lang", sent)
		}
	}
	return all
}

// pushedAt is the ID of a request that browser b makes of a pushed one: always the same, so that the address can be
// opened again after a fault, and leads to the same code.
func pushedAt(pushed string, b session.Browser) string {
	return secret.Digest(string(session.JoinDigests(pushed, b.ID)))
}

// code is the authorization code of this request for a user: a function of both, so that a form
// that is sent twice cannot make two codes.
func (q *Request) code(keys *secret.Keys, subject string) []byte {
	return keys.MAC(useCode, []byte(q.ID), []byte(subject))
}
