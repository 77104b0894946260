package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/markbates/goth"
	"github.com/markbates/goth/providers/wechat"
)

const cookieName = "portal_session"

// visitor is what the site knows of somebody who signed in. OpenID is theirs here and
// nowhere else; UnionID is theirs at every site of the same owner.
type visitor struct{ OpenID, UnionID, Nickname, Picture string }

// login sends the browser to the page with the code to scan. The state ties the answer to
// this browser (RFC 6749 section 10.12).
func (a *App) login(w http.ResponseWriter, r *http.Request) {
	state := rand.Text()
	begun, err := a.wechat.BeginAuth(state)
	if err != nil {
		a.fault(w, err)
		return
	}
	to, err := begun.GetAuthURL()
	if err != nil {
		a.fault(w, err)
		return
	}
	if !a.sessions.Begin(w, r, state, "") {
		w.Header().Set("Retry-After", "60")
		sorry(w, http.StatusServiceUnavailable, "The house is full", "Please try again in a minute.")
		return
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// callback takes the answer. Nothing in it is believed before the state is seen to be this
// browser's own: else a stranger could sign it in as themselves.
func (a *App) callback(w http.ResponseWriter, r *http.Request) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(q["code"]) > 1 || len(q["state"]) > 1 {
		sorry(w, http.StatusBadRequest, "This address is damaged", "Please start again from the first page.")
		return
	}
	if _, ok := a.sessions.Claim(r, q.Get("state")); !ok {
		sorry(w, http.StatusForbidden, "This sign-in was not begun here",
			"The answer does not belong to a sign-in that this browser began in the last ten minutes, so it was refused.")
		return
	}
	// Some answer a refusal without a word, others with an error.
	if q.Has("error") || q.Get("code") == "" {
		sorry(w, http.StatusOK, "You said no", "Nothing was shared with this site. You are welcome to come back.")
		return
	}
	user, err := a.ask(q)
	if err != nil {
		a.fault(w, err)
		return
	}
	who := visitor{OpenID: user.UserID, Nickname: user.NickName, Picture: user.AvatarURL, UnionID: text(user.RawData["Unionid"])}
	if !a.sessions.SignIn(w, r, who) {
		sorry(w, http.StatusServiceUnavailable, "The house is full", "Please try again in a minute.")
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// ask has the library exchange the code and fetch who came.
func (a *App) ask(q url.Values) (goth.User, error) {
	session := new(wechat.Session)
	if _, err := session.Authorize(a.wechat, q); err != nil {
		return goth.User{}, err
	}
	user, err := a.wechat.FetchUser(session)
	if err == nil && user.UserID == "" {
		err = errors.New("the answer names nobody")
	}
	return user, err
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// fault answers what is not the visitor's doing. Of a failed request only its cause is
// logged: the library puts secret and code into the address.
func (a *App) fault(w http.ResponseWriter, err error) {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("the request failed: %w", failed.Err)
	}
	slog.Warn("portal: nobody could be signed in", "cause", err)
	sorry(w, http.StatusBadGateway, "You could not be signed in", "The server that was asked did not answer as it should. Please try again in a moment.")
}

func (a *App) logout(w http.ResponseWriter, r *http.Request) {
	a.sessions.End(w, r)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
