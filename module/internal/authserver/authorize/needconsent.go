package authorize

import (
	"context"

	"github.com/gatehouse/gatehouse/module/internal/authserver/consent"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Continue answers the request for a user who is signed in: with the consent page if the user must be asked, else by
// sending the browser back to the client with a code.
func (p inProgress) Continue(who *session.SignedIn) error {
	switch {
	case who.User.Locked:
		return p.q.refuse(oauth.AccessDenied, "the user may not sign in")
	case p.q.Hint != "" && p.q.Hint != who.User.ID:
		// Core section 3.1.2.2: no positive answer for anybody but the one hinted at.
		return p.q.refuse(oauth.LoginRequired, "another user signed in than id_token_hint names")
	}
	pair, err := ending.PairEpoch(p.r.Context(), p.Store, p.q.Client, who.User.ID) // before the permission
	if err != nil {
		return err
	}
	given := false
	if p.client.Trusted || !p.q.AskAgain {
		given, err = p.Consents.Covers(p.r.Context(), p.client, p.q.RedirectURI, p.q.Scopes, who.User.ID, pair)
	}
	switch {
	case err != nil:
		return err
	case given:
		return p.grant(who, pair)
	case p.quiet:
		return p.q.refuse(oauth.ConsentRequired, "the user has not allowed this")
	}
	return p.showConsent(who, pair)
}

// grant gives the client what it asked for. pair is the epoch of client and user before the permission was looked at.
func (p inProgress) grant(who *session.SignedIn, pair int64) error {
	if err := p.Codes.Count(who.User.ID); err != nil {
		if p.q.variantB() {
			return err
		}
		return p.q.refuse(oauth.TemporarilyUnavailable, "too many authorizations of this user within a minute, try again later")
	}
	epochs := store.Epochs{Subject: who.Session.Epoch, Pair: pair}
	if p.client.SelfRegistered && p.KeepRegistration != nil {
		if err := p.KeepRegistration(p.r.Context(), p.client.ID); err != nil {
			return err
		}
	}
	if p.q.Pushed != "" {
		issued := secret.Digest(string(p.q.code(p.b.Keys, who.User.ID)))
		if err := p.Pushed.Spend(p.r.Context(), p.q.Pushed, p.q.Created, issued); err != nil {
			return err
		}
	}
	grant := p.grantCode
	if p.q.Implicit {
		grant = p.grantToken
	}
	err := grant(who, epochs)
	if err == nil && p.q.Pushed != "" {
		p.Pushed.Forget(p.r.Context(), p.q.Pushed)
	}
	return err
}

// undoUnlessAllowed refuses what was stored for q while the user signed out or withdrew the
// permission, or the client became another, and undoes it, since its form could be sent again.
func (p inProgress) undoUnlessAllowed(ctx context.Context, who *session.SignedIn, epochs store.Epochs, undo func(context.Context) error) error {
	allowed, err := p.Codes.StillAllowed(ctx, p.q.Client, who.User.ID, who.Digest, epochs)
	if err == nil && allowed {
		allowed, err = p.stillConsented(ctx, who)
	}
	if err != nil || allowed {
		return err
	}
	if err := undo(ctx); err != nil {
		return err
	}
	return p.q.refuse(oauth.AccessDenied, "the user has signed out or taken the permission back")
}

// stillConsented reports whether the remembered consent, where one is needed, was given to the client as it is now.
func (p inProgress) stillConsented(ctx context.Context, who *session.SignedIn) (bool, error) {
	client, ok, err := p.Clients.Client(ctx, p.q.Client)
	if err != nil || !ok {
		return false, err
	}
	if client.Trusted || !client.RemembersConsent(p.q.RedirectURI) {
		return true, nil
	}
	given, err := p.Consents.Given(ctx, p.q.Client, who.User.ID)
	return given.Covers(consent.PageOf(client, p.q.RedirectURI), p.q.Scopes), err
}
