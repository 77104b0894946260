package confirm

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/store"
)

// showConfirm asks. The page tells what is known of the device where the request began, so that somebody who did not
// begin it notices (RFC 10027 section 6.1); the number that the page asks for is shown only there.
func (e *Endpoint) showConfirm(w http.ResponseWriter, r *http.Request, b session.Browser, a approval, status int) error {
	t := a.ticket
	lang := e.Pages.Language(r, "")
	v := webui.ConfirmView{
		Form: webui.Form{
			Lang: lang, Action: e.Site.Base + page.ConfirmPath, Token: b.Token(useConfirm, a.who.User.ID),
			Request: b.Seal(useConfirm, []byte(a.id+" "+a.page)),
		},
		Client: a.title, User: a.who.User.Username, Name: page.DisplayName(a.who.User), Unverified: a.unverified, Address: t.Address, At: t.IssuedAt,
		AskNumber: t.Number != "",
	}
	if t.RedirectURI != "" {
		v.Host = page.Destination(t.RedirectURI)
	}
	v.Browser, v.System = page.BrowserName(t.UserAgent)
	if t.Kind == store.TicketDevice {
		v.UserCode = page.UserCode(t.UserCode)
	}
	for _, name := range t.Scopes {
		v.Scopes = append(v.Scopes, e.ScopeTexts.View(name, lang))
	}
	e.Pages.Confirm(w, status, v)
	return nil
}

// showConfirmed shows the outcome.
func (e *Endpoint) showConfirmed(w http.ResponseWriter, r *http.Request, a approval, done string) error {
	e.Pages.Confirm(w, http.StatusOK, webui.ConfirmView{
		Form: webui.Form{Lang: e.Pages.Language(r, ""), Action: e.Site.Base + page.ConfirmPath}, Client: a.title, User: a.who.User.Username, Done: done,
	})
	return nil
}

// path is where a person decides, for a sign-in that leads there.
func (e *Endpoint) path(id string) string {
	return e.Site.Base + page.ConfirmPath + "?uuid=" + id
}
