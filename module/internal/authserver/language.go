package authserver

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// languageFor is how long the choice of a language is kept, in seconds.
const languageFor = 365 * 24 * 3600

// languagePost keeps the choice in a cookie and shows the page again. A request in progress
// goes on; every other page is named by the Referer, which only pages of our own can send
// along with our Origin, and of which only paths that are pages of ours are used: this is no
// open redirector.
func (s *signIn) languagePost(w http.ResponseWriter, r *http.Request) error {
	if !s.sameOrigin(r) {
		return errForbidden
	}
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	lang := form.Get("lang")
	if !slices.Contains(s.Pages.Languages(), lang) {
		return oauth.E(oauth.InvalidRequest, "lang must be one of the languages of these pages")
	}
	s.setCookie(w, webui.LanguageCookie, lang, languageFor)
	sealed := form.Get("request")
	if sealed == "" {
		page.Redirect(w, r, s.pageBefore(r))
		return nil
	}
	r = withCookie(r, webui.LanguageCookie, lang)
	b, err := s.browser(r)
	if err != nil {
		return err
	}
	if to, err := s.openNext(b, sealed); err != nil || to != "" {
		if err == nil {
			page.Redirect(w, r, to)
		}
		return err
	}
	return s.showAgain(w, r, b, sealed)
}

// showAgain shows the sign-in or consent page of a request in progress.
func (s *signIn) showAgain(w http.ResponseWriter, r *http.Request, b browser, sealed string) error {
	q, err := s.resume(b, sealed)
	if err != nil {
		return err
	}
	client, err := s.standing(r.Context(), q)
	if err != nil {
		return err
	}
	who, err := s.whoIs(r)
	if err != nil {
		return err
	}
	if who == nil || !q.fits(who.user.ID, who.session.AuthTime) {
		return s.showLogin(w, r, b, loginPage{request: q, client: client})
	}
	return s.proceed(w, r, b, q, client, who, false)
}

// pageBefore is the path of the page that a form of ours was sent from, or the issuer's own
// address if that page cannot be opened again.
func (s *signIn) pageBefore(r *http.Request) string {
	u, err := url.Parse(r.Referer())
	if err != nil || u.Scheme+"://"+u.Host != s.origin {
		return s.base + "/"
	}
	if rt, ok := s.routes[u.Path]; !ok || !rt.page || !slices.Contains(rt.methods, http.MethodGet) {
		return s.base + "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI()
}

// withCookie is r as if the browser had sent the cookie that it is being given.
func withCookie(r *http.Request, name, value string) *http.Request {
	all := r.Cookies()
	r = r.Clone(r.Context())
	r.Header.Del("Cookie")
	for _, c := range all {
		if c.Name != name {
			r.AddCookie(c)
		}
	}
	r.AddCookie(&http.Cookie{Name: name, Value: value})
	return r
}
