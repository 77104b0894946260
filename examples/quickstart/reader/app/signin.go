package app

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
)

const cookieName = "reader_session"

// login sends the browser to the issuer. The state ties the answer to this browser
// (RFC 6749 section 10.12), the verifier ties the code to this sign-in (RFC 7636).
func (a *App) login(w http.ResponseWriter, r *http.Request) {
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	if !a.sessions.Begin(w, r, state, verifier) {
		w.Header().Set("Retry-After", "60")
		sorry(w, http.StatusServiceUnavailable, "Too many people are here", "Please try again in a minute.")
		return
	}
	http.Redirect(w, r, a.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusFound)
}

// callback takes the issuer's answer. Nothing in it is believed before the state is
// seen to be this browser's own: else a stranger could sign it in as themselves.
func (a *App) callback(w http.ResponseWriter, r *http.Request) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || repeated(q) {
		sorry(w, http.StatusBadRequest, "This address is damaged", "Please start again from the first page.")
		return
	}
	verifier, ok := a.sessions.Claim(r, q.Get("state"))
	if !ok {
		sorry(w, http.StatusForbidden, "This sign-in was not begun here",
			"The answer does not belong to a sign-in that this browser began in the last ten minutes, so it was refused.")
		return
	}
	// RFC 9207: an answer of another issuer is a mix-up attack.
	if q.Has("iss") && q.Get("iss") != a.issuer {
		sorry(w, http.StatusForbidden, "This answer is from somebody else", "It does not come from the server that was asked, so it was refused.")
		return
	}
	if code := q.Get("error"); code != "" {
		title, text := "You were not signed in", "The answer was: "+code+". "+q.Get("error_description")
		if code == "access_denied" {
			title, text = "You said no", "Nothing was shared with this application. You can sign in again and allow it."
		}
		sorry(w, http.StatusBadRequest, title, text)
		return
	}
	if q.Get("code") == "" {
		sorry(w, http.StatusBadRequest, "This address is damaged", "There is no code in it. Please start again from the first page.")
		return
	}
	ctx := context.WithValue(r.Context(), oauth2.HTTPClient, a.api.client)
	tok, err := a.oauth.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		why := "The server did not answer as it should."
		if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode != "" {
			why = "The server said: " + refused.ErrorCode + "."
		}
		sorry(w, http.StatusBadGateway, "You could not be signed in", why)
		return
	}
	// The source outlives this request: it refreshes the token in later ones.
	later := context.WithValue(context.Background(), oauth2.HTTPClient, a.api.client)
	if !a.sessions.SignIn(w, r, a.oauth.TokenSource(later, tok)) {
		sorry(w, http.StatusServiceUnavailable, "Too many people are here", "Please try again in a minute.")
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (a *App) logout(w http.ResponseWriter, r *http.Request) {
	a.sessions.End(w, r)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func repeated(q url.Values) bool {
	for _, values := range q {
		if len(values) > 1 {
			return true
		}
	}
	return false
}
