package authserver

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/webui"
)

// isHome reports whether a path is the issuer's own address, which is no endpoint: whatever
// else is served on the host may have it.
func (s *Server) isHome(r *http.Request) bool {
	return (r.URL.Path == s.base || r.URL.Path == s.base+"/") && slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method)
}

// homeGet sends whoever is signed in to the account page, and tells everybody else what this is.
func (s *signIn) homeGet(w http.ResponseWriter, r *http.Request) error {
	who, err := s.whoMay(r)
	if err != nil {
		return err
	}
	if who != nil {
		page.Redirect(w, r, s.base+page.AccountPath)
		return nil
	}
	s.Pages.Home(w, http.StatusOK, webui.HomeView{
		Lang: s.Pages.Language(r, ""), Login: s.base + "/login", Metadata: s.base + "/.well-known/openid-configuration",
	})
	return nil
}
