package app

import (
	"cmp"
	_ "embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"

	"golang.org/x/oauth2"
)

var (
	//go:embed page.html
	pageText string
	//go:embed style.css
	styleText string

	page = template.Must(template.New("page").Parse(pageText))
)

// view is what a page shows.
type view struct {
	Title, Text string
	Sorry       bool // something went wrong; Text says what
	SignedIn    bool
	User        string // the name, or the id when there is none
	Articles    articles
}

func (a *App) home(w http.ResponseWriter, r *http.Request) {
	v := view{Title: "Article Reader"}
	tokens := a.sessions.User(r)
	if tokens == nil {
		show(w, http.StatusOK, v)
		return
	}
	v.SignedIn = true
	err := a.read(r, *tokens, &v)
	if wait, ok := errors.AsType[busy](err); ok {
		v.Text = "You have read a great deal. Please come back a little later."
		if wait.retryAfter != "" {
			w.Header().Set("Retry-After", wait.retryAfter)
			v.Text = "You have read a great deal. Please come back in " + wait.retryAfter + " seconds."
		}
		v.Title, v.Sorry = "One moment", true
		show(w, http.StatusTooManyRequests, v)
		return
	}
	switch {
	case err == nil:
		show(w, http.StatusOK, v)
	case errors.Is(err, errSignedOut):
		a.sessions.End(w, r)
		show(w, http.StatusOK, view{Title: v.Title, Text: "Your sign-in has ended. Please sign in again."})
	default:
		// The page says nothing of the fault; error texts of oauth2 may hold an answer of the issuer.
		slog.Warn("reader: the API could not be read", "cause", cause(err))
		v.Title, v.Text, v.Sorry = "The articles are out of reach", "Please try again in a moment.", true
		show(w, http.StatusBadGateway, v)
	}
}

func cause(err error) string {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return "the token was not refreshed: " + refused.ErrorCode
	}
	return err.Error()
}

func (a *App) read(r *http.Request, tokens oauth2.TokenSource, v *view) error {
	var known profile
	if err := a.api.get(r.Context(), tokens, "/profile", &known); err != nil {
		return err
	}
	v.User = known.Subject
	if a.userinfo.client != nil {
		var user claims
		if err := a.userinfo.get(r.Context(), tokens, "/userinfo", &user); err != nil {
			return err
		}
		if user.Subject != known.Subject {
			return errors.New("the issuer and the API speak of different users")
		}
		v.User = cmp.Or(user.Name, v.User)
	}
	return a.api.get(r.Context(), tokens, "/articles?limit=10", &v.Articles)
}

// sorry writes a page that says what went wrong.
func sorry(w http.ResponseWriter, status int, title, text string) {
	show(w, status, view{Title: title, Text: text, Sorry: true})
}

func show(w http.ResponseWriter, status int, v view) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Execute(w, v) // the reader has gone: there is nobody to tell
}
