package authserver

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/webui"
)

// signIn is the browser's half of the server: the authorization endpoint, the pages
// and the session.
//
// A sign-in goes: GET /authorize answers with the sign-in page, whose form posts to
// /login; that answers with the consent page, whose form posts to /consent; that
// redirects to the client. Where a page is not needed the step behind it is the
// answer. What the client asked for travels sealed in the forms, bound to a cookie of
// the browser, so nothing is stored for whoever never signs in, any number of tabs
// work, and nothing a browser can change is believed.
type signIn struct {
	*Server
	hashing chan struct{} // a place for each password being checked
}

func newSignIn(s *Server) *signIn {
	return &signIn{Server: s, hashing: make(chan struct{}, s.Protect.HashConcurrency)}
}

// cookieName is the name of a cookie: "" for the session, "-browser" for what requests and forms are bound to. The
// __Host- prefix keeps other hosts of the domain from setting it; browsers accept that and
// Secure over https only, and a loopback issuer may be http.
func (s *signIn) cookieName(suffix string) string {
	if s.Issuer.Scheme == "https" {
		return "__Host-gatehouse" + suffix
	}
	return "gatehouse" + suffix
}

func (s *signIn) setCookie(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true,
		Secure: s.Issuer.Scheme == "https", SameSite: http.SameSiteLaxMode,
	})
}

// browser returns the value that binds requests to this browser, and sets the cookie
// for it when there is none.
func (s *signIn) browser(w http.ResponseWriter, r *http.Request) string {
	name := s.cookieName("-browser")
	if c, err := r.Cookie(name); err == nil && len(c.Value) == len(secret.Token()) {
		return c.Value
	}
	value := secret.Token()
	s.setCookie(w, name, value, 0)
	return value
}

// known returns the browser's value when it brought one.
func (s *signIn) known(r *http.Request) (string, bool) {
	c, err := r.Cookie(s.cookieName("-browser"))
	if err != nil || c.Value == "" || len(c.Value) > 64 {
		return "", false
	}
	return c.Value, true
}

// formToken ties a form to the browser and to where it is posted, against cross-site
// requests.
func (s *signIn) formToken(ctx context.Context, browser, action string) (string, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return "", err
	}
	return encode(keys.MAC("form", []byte(browser), []byte(action))), nil
}

// ours reports whether a post comes from a page of ours in this browser. Browsers send
// Origin with every post; the pages' Referrer-Policy keeps it from being null. The
// issuer is compared as configured, whatever host the request names.
func (s *signIn) ours(r *http.Request, browser, token string) (bool, error) {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false, nil
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != s.Issuer.Scheme+"://"+s.Issuer.Host {
			return false, nil
		}
	}
	want, err := s.formToken(r.Context(), browser, r.URL.Path)
	return err == nil && secret.Equal([]byte(token), []byte(want)), err
}

// form fills in what all forms share.
func (s *signIn) form(ctx context.Context, lang, browser, path, sealed string) (webui.Form, error) {
	action := s.base + path
	token, err := s.formToken(ctx, browser, action)
	return webui.Form{Lang: lang, Action: action, Token: token, Request: sealed}, err
}

// binding is what sealed values of a browser are bound to.
func binding(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum[:]
}
