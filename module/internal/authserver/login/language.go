package login

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// languageFor is how long the choice of a language is kept, in seconds.
const languageFor = 365 * 24 * 3600

// ChooseLanguage keeps the choice from the foot of a page in a cookie and shows the page again. A
// request in progress goes on; every other page is named by the Referer, which only pages of our
// own can send along with our Origin, and of which only paths that are pages of ours are used:
// this is no open redirector.
func (e *Endpoint) ChooseLanguage(w http.ResponseWriter, r *http.Request) error {
	sessions := e.Page.Sessions
	if !sessions.SameOrigin(r) {
		return refusal.Forbid()
	}
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	lang := form.Get("lang")
	if !slices.Contains(e.Page.Pages.Languages(), lang) {
		return oauth.E(oauth.InvalidRequest, "lang must be one of the languages of these pages")
	}
	sessions.Cookies.Set(w, webui.LanguageCookie, lang, languageFor)
	sealed := form.Get("request")
	if sealed == "" {
		page.Redirect(w, r, e.pageBefore(r))
		return nil
	}
	r = withCookie(r, webui.LanguageCookie, lang)
	b, err := sessions.Browser(r)
	if err != nil {
		return err
	}
	if to, err := e.Page.openNext(b, sealed); err != nil || to != "" {
		if err == nil {
			page.Redirect(w, r, to)
		}
		return err
	}
	request, err := e.Requests.Resume(r.Context(), b, sealed)
	if err != nil {
		return err
	}
	return request.ShowAgain(w, r, b)
}

// pageBefore is the path of the page that a form of ours was sent from, or the issuer's own
// address if that page cannot be opened again.
func (e *Endpoint) pageBefore(r *http.Request) string {
	site := e.Page.Site
	u, err := url.Parse(r.Referer())
	if err != nil || u.Scheme+"://"+u.Host != site.Origin || !e.IsPage(u.Path) {
		return site.Base + "/"
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
