package authserver

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// connectAuthorizeGet is Variant B in one browser: our sign-in and consent, then the code.
func (s *signIn) connectAuthorizeGet(w http.ResponseWriter, r *http.Request) error {
	q, client, _, err := s.connectRequest(r, oauth.SNSUserinfo, oauth.SNSBase)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	b, err := s.welcome(w, r)
	if err != nil {
		return err
	}
	who, err := s.whoIs(r)
	if err != nil {
		return err
	}
	if who == nil {
		return s.showLogin(w, r, b, loginPage{request: q, client: client})
	}
	return s.proceed(w, r, b, q, client, who, false)
}
