package authserver

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// signIn is the browser's half of the server: the authorization endpoint, the pages
// and sessions. Its handlers return what went wrong; fail answers it.
type signIn struct {
	*Server
	gate    *gate
	hanging *fairshare.Places // polls
	origin  string            // of the issuer, as browsers write it
	https   bool
}

func newSignIn(s *Server) *signIn {
	return &signIn{
		Server:  s,
		gate:    newGate(s.Protect.HashConcurrency, s.Protect.HashQueueTimeout, s.Now),
		hanging: fairshare.NewPlaces(s.CrossDevice.MaxWaiting - s.CrossDevice.MaxWaiting/3),
		origin:  oauth.Origin(s.Issuer),
		https:   s.Issuer.Scheme == "https",
	}
}

func (s *signIn) authorize(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.fail(w, r, s.authorizePost(w, r))
		return
	}
	s.fail(w, r, s.authorizeGet(w, r))
}

func (s *signIn) login(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.fail(w, r, s.loginPost(w, r))
		return
	}
	s.fail(w, r, s.loginGet(w, r))
}

// consent never answers a GET with anything but an error: there is no address whose
// mere visit grants something. A browser that restores its tabs comes here by GET.
func (s *signIn) consent(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.fail(w, r, s.consentPost(w, r))
		return
	}
	s.fail(w, r, refusal.New(http.StatusBadRequest, refusal.Expired, ""))
}

func (s *signIn) logout(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.fail(w, r, s.logoutPost(w, r))
		return
	}
	s.fail(w, r, s.logoutGet(w, r))
}
