package authserver

import (
	"log/slog"
	"net/http"

	"github.com/gatehouse/gatehouse/module/webui"
)

// logoutGet shows who is signed in and asks; a link alone signs nobody out.
func (s *signIn) logoutGet(w http.ResponseWriter, r *http.Request) error {
	b, err := s.welcome(w, r)
	if err != nil {
		return err
	}
	who, err := s.whoIs(r)
	if err != nil {
		return err
	}
	v := webui.LogoutView{Form: webui.Form{Lang: s.Pages.Language(r, "")}, Done: who == nil}
	if who != nil {
		v.User = who.user.Username
		v.Action, v.Token = s.base+"/logout", b.token("logout", "")
	}
	s.Pages.Logout(w, http.StatusOK, v)
	return nil
}

// logoutPost ends the session in the store first: a cookie that somebody copied is
// worth nothing from then on. If the store is away the user is told so.
func (s *signIn) logoutPost(w http.ResponseWriter, r *http.Request) error {
	b, form, err := s.receive(r)
	if err != nil {
		return err
	}
	if !b.checkToken(form.Get("token"), "logout", "") {
		return errForbidden
	}
	if err := s.end(r); err != nil {
		return err
	}
	s.setCookie(w, s.sessionCookie(), "", -1)
	s.Log.Info("signed out", slog.String("address", s.ClientIP(r)))
	s.Pages.Logout(w, http.StatusOK, webui.LogoutView{Form: webui.Form{Lang: s.Pages.Language(r, "")}, Done: true})
	return nil
}
