package authorize

import (
	"context"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/consent"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// proceed goes on for somebody who is signed in: to the consent page if an answer is needed, else
// back to the client with a code. quiet requests must not show a page.
func (e *Endpoint) proceed(w http.ResponseWriter, r *http.Request, b session.Browser, q *Request, client *oauth.Client, who *session.SignedIn, quiet bool) error {
	switch {
	case who.User.Locked:
		return q.refuse(oauth.AccessDenied, "the user may not sign in")
	case q.Hint != "" && q.Hint != who.User.ID:
		// Core section 3.1.2.2: no positive answer for anybody but the one hinted at.
		return q.refuse(oauth.LoginRequired, "another user signed in than id_token_hint names")
	}
	pair, err := ending.PairEpoch(r.Context(), e.Store, q.Client, who.User.ID) // before the permission
	if err != nil {
		return err
	}
	given := false
	if client.Trusted || !q.AskAgain {
		given, err = e.Consents.Covers(r.Context(), client, q.RedirectURI, q.Scopes, who.User.ID, pair)
	}
	switch {
	case err != nil:
		return err
	case given:
		return e.grant(w, r, b, q, client, who, pair)
	case quiet:
		return q.refuse(oauth.ConsentRequired, "the user has not allowed this")
	}
	return e.showConsent(w, r, b, q, client, who, pair)
}

// grant gives the client what it asked for. pair is the epoch of client and user before the
// permission was looked at.
func (e *Endpoint) grant(w http.ResponseWriter, r *http.Request, b session.Browser, q *Request, client *oauth.Client, who *session.SignedIn, pair int64) error {
	if err := e.Codes.Count(who.User.ID); err != nil {
		if q.variantB() {
			return err
		}
		return q.refuse(oauth.TemporarilyUnavailable, "too many authorizations of this user within a minute, try again later")
	}
	epochs := store.Epochs{Subject: who.Session.Epoch, Pair: pair}
	if client.SelfRegistered && e.KeepRegistration != nil {
		if err := e.KeepRegistration(r.Context(), client.ID); err != nil {
			return err
		}
	}
	if q.Pushed != "" {
		issued := secret.Digest(string(q.code(b.Keys, who.User.ID)))
		if err := e.Pushed.Spend(r.Context(), q.Pushed, q.Created, issued); err != nil {
			return err
		}
	}
	if q.Implicit {
		return e.grantToken(w, r, b, q, client, who, epochs)
	}
	return e.grantCode(w, r, b, q, who, epochs)
}

// undoUnlessAllowed refuses what was stored for q while the user signed out or withdrew the
// permission, or the client became another, and undoes it, since its form could be sent again.
func (e *Endpoint) undoUnlessAllowed(ctx context.Context, q *Request, who *session.SignedIn, epochs store.Epochs, undo func(context.Context) error) error {
	allowed, err := e.Codes.StillAllowed(ctx, q.Client, who.User.ID, who.Digest, epochs)
	if err == nil && allowed {
		allowed, err = e.stillConsented(ctx, q, who)
	}
	if err != nil || allowed {
		return err
	}
	if err := undo(ctx); err != nil {
		return err
	}
	return q.refuse(oauth.AccessDenied, "the user has signed out or taken the permission back")
}

// stillConsented reports whether the remembered consent, where one is needed, was given to the
// client as it is now.
func (e *Endpoint) stillConsented(ctx context.Context, q *Request, who *session.SignedIn) (bool, error) {
	client, ok, err := e.Clients.Client(ctx, q.Client)
	if err != nil || !ok {
		return false, err
	}
	if client.Trusted || !client.RemembersConsent(q.RedirectURI) {
		return true, nil
	}
	given, err := e.Consents.Given(ctx, q.Client, who.User.ID)
	return given.Covers(consent.PageOf(client, q.RedirectURI), q.Scopes), err
}
