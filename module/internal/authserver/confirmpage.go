package authserver

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/store"
)

// showConfirm asks. The page tells what is known of the device where the request began, so
// that who did not begin it can see so (RFC 10027 section 6.1); the number it asks for
// stands there alone.
func (s *signIn) showConfirm(w http.ResponseWriter, r *http.Request, b browser, a approval, status int) error {
	t := a.ticket
	lang := s.Pages.Language(r, "")
	v := webui.ConfirmView{
		Form: webui.Form{
			Lang: lang, Action: s.base + page.ConfirmPath, Token: b.token(useConfirm, a.who.user.ID),
			Request: b.keys.Seal(useConfirm, []byte(a.id+" "+a.page), []byte(b.id)),
		},
		Client: a.title, User: a.who.user.Username, Name: page.DisplayName(a.who.user), Unverified: a.unverified, Address: t.Address, At: t.IssuedAt,
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
		v.Scopes = append(v.Scopes, s.scopeTexts.View(name, lang))
	}
	s.Pages.Confirm(w, status, v)
	return nil
}

// showConfirmed says how it ended.
func (s *signIn) showConfirmed(w http.ResponseWriter, r *http.Request, a approval, done string) error {
	s.Pages.Confirm(w, http.StatusOK, webui.ConfirmView{
		Form: webui.Form{Lang: s.Pages.Language(r, ""), Action: s.base + page.ConfirmPath}, Client: a.title, User: a.who.user.Username, Done: done,
	})
	return nil
}

// confirmNext is the path at which a person decides, for a sign-in that leads there.
func (s *signIn) confirmNext(id string) string { return s.base + page.ConfirmPath + "?uuid=" + id }
