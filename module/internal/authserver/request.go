package authserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// request is an authorization request that was checked, on its way through the
// pages. It is not stored: it travels in the forms, sealed so that nobody can read or
// change it, and bound to the browser's cookie so that nobody can go on with the
// request of another (the attack of CVE-2022-39222).
type request struct {
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
	// Hint is the subject of id_token_hint, who alone may be answered for; "" for anybody.
	Hint    string    `json:"hint,omitempty"`
	Created time.Time `json:"at"`
	// AuthAfter is the moment since which the user must have signed in, for
	// prompt=login and max_age; zero: any time.
	AuthAfter time.Time `json:"auth_after,omitzero"`
	// AskAgain is prompt=consent.
	AskAgain bool `json:"ask,omitempty"`
	// Shown is what the consent page in front of the user says about the client, "" before
	// there is one: see consentPage.
	Shown string `json:"shown,omitempty"`
	// Pair is the epoch of client and user when that page was made.
	Pair    int64  `json:"pair,omitempty"`
	Locales string `json:"locales,omitempty"`
}

func (q *request) callback() page.Callback {
	return page.Callback{URI: q.RedirectURI, State: q.State, Fragment: q.Implicit, VariantB: q.variantB()}
}

func (q *request) variantB() bool { return q.Dialect == store.DialectVariantB }

func (q *request) dialect() store.Dialect {
	if q.Dialect == "" {
		return store.DialectOAuth
	}
	return q.Dialect
}

func (q *request) responseType() string {
	if q.Implicit {
		return responseToken
	}
	return responseCode
}

// fits reports whether somebody who signed in then may be answered for.
func (q *request) fits(subject string, authTime time.Time) bool {
	return !authTime.Before(q.AuthAfter) && (q.Hint == "" || q.Hint == subject)
}

// refuse tells the client, and in Variant B, which knows no error but a person's no, the
// person.
func (q *request) refuse(code oauth.Code, description string) error {
	if q.variantB() && code != oauth.AccessDenied {
		return oauth.E(oauth.InvalidRequest, description)
	}
	return page.SendBack(q.callback(), oauth.E(code, description))
}

// seal gives the form's value. Without the HTML escapes of json.Marshal it is at
// most three times as long as the query it came from, below the limit of a body.
func (q *request) seal(b browser) (string, error) {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(q); err != nil {
		return "", err
	}
	return b.keys.Seal(useRequest, plain.Bytes(), []byte(b.id)), nil
}

// resume opens what a form brought back. Another browser's, or a changed one, is 403;
// one that took too long is an offer to begin again.
func (s *signIn) resume(b browser, sealed string) (*request, error) {
	plain, err := b.keys.Open(useRequest, sealed, []byte(b.id))
	if err != nil {
		return nil, errForbidden
	}
	q := new(request)
	if err := json.Unmarshal(plain, q); err != nil {
		return nil, errForbidden
	}
	if s.Now().Sub(q.Created) >= s.Lifetimes.Request {
		return nil, page.WithView(refusal.New(http.StatusBadRequest, refusal.Expired, ""), func(v *webui.ErrorView) {
			// What was pushed was not to be seen in an address.
			if q.Hint == "" && q.Pushed == "" { // the hint itself is not kept, and without it anybody could be answered for
				v.Retry = s.again(q)
			}
		})
	}
	return q, nil
}

// again is the path at which the request can be made once more.
func (s *signIn) again(q *request) string {
	if q.variantB() {
		return query.AppendTo(s.base+page.ConnectAuthorizePath, q.connectParams()...)
	}
	return query.AppendTo(s.base+"/authorize", q.params()...)
}

// params are names and values with which the request can be made once more.
func (q *request) params() []string {
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

// code is the authorization code of this request for a user: a function of both, so
// that a form that is sent twice cannot make two codes.
func (q *request) code(keys *secret.Keys, subject string) []byte {
	return keys.MAC(useCode, []byte(q.ID), []byte(subject))
}
