package authorize

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// ConnectGet is Variant B in one browser: our sign-in and consent, then the code.
func (e *Endpoint) ConnectGet(w http.ResponseWriter, r *http.Request) error {
	q, client, _, err := e.ReadConnect(r, oauth.SNSUserinfo, oauth.SNSBase)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	b, err := e.Welcome(w, r)
	if err != nil {
		return err
	}
	who, err := e.SignedIn(r)
	if err != nil {
		return err
	}
	if who == nil {
		return e.showLogin(w, r, b, q, client, "")
	}
	return e.proceed(w, r, b, q, client, who, false)
}
