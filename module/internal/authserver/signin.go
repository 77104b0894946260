package authserver

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// signIn is the browser's half of the server: the authorization endpoint, the pages
// and sessions. Its handlers return what went wrong, for the route table to answer.
type signIn struct {
	*Server
	gate       *gate
	hanging    *fairshare.Places // polls
	origin     string            // of the issuer, as browsers write it
	https      bool
	scopeTexts page.ScopeTexts
}

func newSignIn(s *Server) *signIn {
	texts := make(page.ScopeTexts)
	for _, scope := range s.Scopes {
		texts[scope.Name] = scope.Text
	}
	return &signIn{
		Server:     s,
		gate:       newGate(s.Protect.HashConcurrency, s.Protect.HashQueueTimeout, s.Now),
		hanging:    fairshare.NewPlaces(s.CrossDevice.MaxWaiting - s.CrossDevice.MaxWaiting/3),
		origin:     oauth.Origin(s.Issuer),
		https:      s.Issuer.Scheme == "https",
		scopeTexts: texts,
	}
}

// consentGet never answers with anything but an error: there is no address whose mere visit
// grants something. A browser that restores its tabs comes here.
func (s *signIn) consentGet(http.ResponseWriter, *http.Request) error {
	return refusal.New(http.StatusBadRequest, refusal.Expired, "")
}
