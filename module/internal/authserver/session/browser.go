package session

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

const useForm = "form" // of the keys' secret

// Browser is who a form is made for: a long random cookie ties all tabs of a browser together, and to nothing else.
type Browser struct {
	Keys *secret.Keys
	ID   string   // new forms are bound to it; "" if the request came without our cookie
	ids  []string // ID, and those of tabs that were opened at the same time
	// LastSignIn is random and changes with each sign-in. Sign-in forms are bound to it, so that each signs
	// somebody in once: the browser's history may keep one with its password.
	LastSignIn string
}

// Browser returns the browser of a request.
func (s *Sessions) Browser(r *http.Request) (Browser, error) {
	keys, err := s.Keys(r.Context())
	if err != nil {
		return Browser{}, err
	}
	b := Browser{Keys: keys, ids: s.Cookies().BrowserIDs(r), LastSignIn: TokenCookie(r, s.Cookies().LastSignIn())}
	if len(b.ids) > 0 {
		b.ID = b.ids[0]
	}
	return b, nil
}

// Welcome is Browser for pages with a form: it sets the browser's cookies that are not there. An existing cookie stays,
// so that forms in other tabs remain valid.
func (s *Sessions) Welcome(w http.ResponseWriter, r *http.Request) (Browser, error) {
	b, err := s.Browser(r)
	if err != nil {
		return b, err
	}
	if b.ID == "" {
		b.ID = s.Cookies().NewBrowser(w)
		b.ids = []string{b.ID}
	}
	if b.LastSignIn == "" {
		b.LastSignIn = secret.Token()
		s.Cookies().Set(w, s.Cookies().LastSignIn(), b.LastSignIn, 0)
	}
	return b, nil
}

// Token makes the token of a form for action; about is the user who sees it, "" for nobody.
func (b Browser) Token(action, about string) string {
	return base64.RawURLEncoding.EncodeToString(b.Keys.MAC(useForm, []byte(b.ID), []byte(action), []byte(about)))
}

// CheckToken reports whether a form came with the token that was made for it.
func (b Browser) CheckToken(token, action, about string) bool {
	mac, err := base64.RawURLEncoding.Strict().DecodeString(token)
	return err == nil && slices.ContainsFunc(b.ids, func(id string) bool {
		return b.Keys.CheckMAC(useForm, mac, []byte(id), []byte(action), []byte(about))
	})
}

// Seal encrypts what a form carries so that only this browser can send it back.
func (b Browser) Seal(use string, plain []byte) string {
	return b.Keys.Seal(use, plain, []byte(b.ID))
}

// Open undoes Seal.
func (b Browser) Open(use, sealed string) ([]byte, error) {
	return b.open(use, sealed, func(id string) []byte { return []byte(id) })
}

// SealFor is Seal for a kind of button that only one user can press.
func (b Browser) SealFor(use, value, kind, subject string) string {
	return b.Keys.Seal(use, []byte(value), JoinDigests(b.ID, kind, subject))
}

// OpenFor undoes SealFor; ok is false for what was made for another user, browser or button.
func (b Browser) OpenFor(use, sealed, kind, subject string) (value string, ok bool) {
	plain, err := b.open(use, sealed, func(id string) []byte { return JoinDigests(id, kind, subject) })
	return string(plain), err == nil
}

// open opens what was bound to one of the browser's ids.
func (b Browser) open(use, sealed string, bound func(id string) []byte) ([]byte, error) {
	for _, id := range b.ids {
		if plain, err := b.Keys.Open(use, sealed, bound(id)); err == nil {
			return plain, nil
		}
	}
	return nil, secret.ErrForged
}

// JoinDigests joins the digests of its parts, so that different lists of parts give different results.
func JoinDigests(parts ...string) []byte {
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(secret.Digest(p))
	}
	return []byte(all.String())
}

// ReceiveForm reads a form that one of our pages must have sent from this browser. The result is not authentic yet:
// the caller checks the token.
func (s *Sessions) ReceiveForm(r *http.Request) (Browser, httpx.Form, error) {
	b, err := s.FormSender(r)
	if err != nil {
		return b, httpx.Form{}, err
	}
	form, err := page.ReadForm(r)
	return b, form, err
}

// FormSender returns the browser that sent one of our forms, and refuses everything else.
func (s *Sessions) FormSender(r *http.Request) (Browser, error) {
	if !s.SameOrigin(r) {
		return Browser{}, refusal.Forbid()
	}
	b, err := s.Browser(r)
	if err == nil && b.ID == "" {
		err = refusal.Forbid()
	}
	return b, err
}

// SameOrigin is false for posts that another site made the browser send. It compares with the configured issuer, never
// with Host, which is why http.CrossOriginProtection does not fit. Our pages have "Referrer-Policy: same-origin", with
// which browsers send the real Origin with our forms; "null" therefore comes from elsewhere (a sandboxed frame, a
// redirect). A request with neither header comes from no current browser, and still needs the form's token.
func (s *Sessions) SameOrigin(r *http.Request) bool {
	if !FromOwnPage(r) {
		return false
	}
	for _, from := range r.Header.Values("Origin") {
		if from != s.Site.Origin {
			return false
		}
	}
	return true
}

// FromOwnPage is false for requests that a page of another site makes: a script it loads, with which browsers send our
// cookie in every frame, or a link. An address that was typed, or read by a camera, comes from no page.
func FromOwnPage(r *http.Request) bool {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}
