package authserver

import (
	"encoding/base64"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// The purposes our secrets are used for here.
const (
	useForm       = "form"
	useRequest    = "request"
	useCode       = "code"
	useEndSession = "end session"
	useTypedName  = "typed name"
	useKnown      = "known browser"
	useTypedID    = "typed client_id"
)

// cookieName is the name under which a cookie travels. A loopback http issuer goes
// without the prefix: Safari drops Secure cookies there.
func (s *signIn) cookieName(name string) string {
	if s.https {
		return httpx.CookiePrefix + name
	}
	return name
}

func (s *signIn) browserCookie() string { return s.cookieName(httpx.CookieName + "-browser") }
func (s *signIn) sessionCookie() string { return s.cookieName(httpx.CookieName) }
func (s *signIn) knownCookie() string   { return s.cookieName(httpx.CookieName + "-known") }

func (s *signIn) setCookie(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: s.https, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// browser is who a form is made for: one long random cookie ties all tabs of a
// browser together and to nothing else.
type browser struct {
	keys *secret.Keys
	id   string // "" when the request came without a cookie of ours
}

func (s *signIn) browser(r *http.Request) (browser, error) {
	keys, err := s.Keys(r.Context())
	if err != nil {
		return browser{}, err
	}
	b := browser{keys: keys}
	if c, err := r.Cookie(s.browserCookie()); err == nil && secret.IsToken(c.Value) {
		b.id = c.Value
	}
	return b, nil
}

// welcome is browser for pages with a form: it gives the browser its cookie if it
// has none. An existing one stays, or other tabs would lose their forms.
func (s *signIn) welcome(w http.ResponseWriter, r *http.Request) (browser, error) {
	b, err := s.browser(r)
	if err == nil && b.id == "" {
		b.id = secret.Token()
		s.setCookie(w, s.browserCookie(), b.id, 0)
	}
	return b, err
}

// token goes into a form for action; about is whom it concerns, "" for nobody.
func (b browser) token(action, about string) string {
	return base64.RawURLEncoding.EncodeToString(b.keys.MAC(useForm, []byte(b.id), []byte(action), []byte(about)))
}

func (b browser) checkToken(token, action, about string) bool {
	mac, err := base64.RawURLEncoding.Strict().DecodeString(token)
	return err == nil && b.keys.CheckMAC(useForm, mac, []byte(b.id), []byte(action), []byte(about))
}

var errForbidden = refusal.Forbid()

// receive reads a form that one of our pages must have sent from this browser. What
// it returns is not authentic yet: the caller checks the token.
func (s *signIn) receive(r *http.Request) (browser, httpx.Form, error) {
	b, err := s.sender(r)
	if err != nil {
		return b, httpx.Form{}, err
	}
	form, err := page.ReadForm(r)
	return b, form, err
}

// sender is the browser that a form of ours comes from.
func (s *signIn) sender(r *http.Request) (browser, error) {
	if !s.sameOrigin(r) {
		return browser{}, errForbidden
	}
	b, err := s.browser(r)
	if err == nil && b.id == "" {
		err = errForbidden
	}
	return b, err
}

// sameOrigin refuses posts that another site made the browser send. The measure is
// the configured issuer, never Host, which is why http.CrossOriginProtection does not
// fit. Our pages say "Referrer-Policy: same-origin", with which browsers send a true
// Origin with our forms; "null" therefore comes from elsewhere (a sandboxed frame, a
// redirect). What sends neither header is no browser of this decade, and still needs
// the form's token.
func (s *signIn) sameOrigin(r *http.Request) bool {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	for _, from := range r.Header.Values("Origin") {
		if from != s.origin {
			return false
		}
	}
	return true
}
