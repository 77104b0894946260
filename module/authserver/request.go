package authserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// request is a checked authorization request on its way through the pages.
type request struct {
	// ID makes the code, so that a form that is submitted twice yields one code.
	ID          string    `json:"id"`
	Client      string    `json:"client"`
	RedirectURI string    `json:"redirect_uri"`
	State       string    `json:"state,omitempty"`
	Scopes      []string  `json:"scopes,omitempty"`
	Challenge   string    `json:"challenge,omitempty"`
	Nonce       string    `json:"nonce,omitempty"`
	Hint        string    `json:"hint,omitempty"`
	Locales     string    `json:"locales,omitempty"`
	Prompt      []string  `json:"prompt,omitempty"`
	MaxAge      *int      `json:"max_age,omitempty"`
	Created     time.Time `json:"created"`
}

// What a sealed request is for; one of a page is worth nothing at another.
const (
	atLogin   = "request"
	atConsent = "consent"
)

func (s *signIn) seal(ctx context.Context, use string, req request, bound ...string) (string, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return "", err
	}
	plain, err := json.Marshal(req)
	if err != nil {
		return "", err
	}
	return keys.Seal(use, plain, binding(bound...)), nil
}

// open undoes seal. ok is false when the value was made for another browser, session or
// page, or was changed.
func (s *signIn) open(ctx context.Context, use, sealed string, bound ...string) (req request, ok bool, err error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return request{}, false, err
	}
	plain, err := keys.Open(use, sealed, binding(bound...))
	if err != nil {
		return request{}, false, nil
	}
	return req, json.Unmarshal(plain, &req) == nil, nil
}

// again is the same-origin address that begins the request anew.
func (s *signIn) again(req request) string {
	q := url.Values{}
	for name, value := range map[string]string{
		"response_type": "code", "client_id": req.Client, "redirect_uri": req.RedirectURI, "state": req.State,
		"scope": oauth.JoinScopes(req.Scopes), "code_challenge": req.Challenge, "nonce": req.Nonce,
		"login_hint": req.Hint, "ui_locales": req.Locales, "prompt": oauth.JoinScopes(req.Prompt),
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if req.Challenge != "" {
		q.Set("code_challenge_method", "S256")
	}
	if req.MaxAge != nil {
		q.Set("max_age", strconv.Itoa(*req.MaxAge))
	}
	return s.base + "/authorize?" + q.Encode()
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
