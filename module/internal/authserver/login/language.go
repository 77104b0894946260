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

// ChooseLanguage keeps the choice made at the foot of a page in a cookie and shows the page again. A request in progress
// continues; other pages are found by the Referer. That is no open redirector: only our own pages can send it together
// with our Origin, and only paths of our pages are used.
func (e *Endpoint) ChooseLanguage(w http.ResponseWriter, r *http.Request) error {
	if !e.SameOrigin(r) {
		return refusal.Forbid()
	}
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	lang := form.Get("lang")
	if !slices.Contains(e.Pages.Languages(), lang) {
		return oauth.E(oauth.InvalidRequest, "lang must be one of the languages of these pages")
	}
	e.Cookies().Set(w, webui.LanguageCookie, lang, languageFor)
	sealed := form.Get("request")
	if sealed == "" {
		before := e.pageBefore(r)
		if !e.ForClients(before.Path) {
			webui.CutOpener(w.Header())
		}
		page.Redirect(w, r, before.RequestURI())
		return nil
	}
	r = withCookie(r, webui.LanguageCookie, lang)
	b, err := e.Browser(r)
	if err != nil {
		return err
	}
	e.cutOpener(w, b, sealed)
	if to, err := e.openNext(b, sealed); err != nil || to != "" {
		if err == nil {
			page.Redirect(w, r, to)
		}
		return err
	}
	request, err := e.Requests.Resume(w, r, b, sealed)
	if err != nil {
		return err
	}
	return request.ShowAgain()
}

// pageBefore is the address of the page that sent a form, or the issuer's own address if that page cannot be opened again.
func (e *Endpoint) pageBefore(r *http.Request) *url.URL {
	u, err := url.Parse(r.Referer())
	if err != nil || u.Scheme+"://"+u.Host != e.Site.Origin || !e.IsPage(u.Path) {
		return &url.URL{Path: e.Site.Base + "/"}
	}
	return &url.URL{Path: u.Path, RawQuery: u.RawQuery}
}

// withCookie is r as if the browser had already sent the cookie that it is being given.
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
