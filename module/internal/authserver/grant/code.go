package grant

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// maxCode is the maximum length of a code that is hashed and looked up. The gateway's own have
// 43 characters.
const maxCode = 256

var errCodeReplay = errors.New("grant: a used authorization code was presented: its family is revoked")

// authorizationCode is RFC 6749 section 4.1.3 with PKCE (RFC 7636 section 4.6).
type authorizationCode struct{ codes }

func (g *authorizationCode) Type() oauth.GrantType { return oauth.AuthorizationCode }

func (g *authorizationCode) Prepare(ctx context.Context, r Request) (Pending, error) {
	sent := r.Form.Get("code")
	if sent == "" {
		return Pending{}, oauth.Parameter("code", "is missing")
	}
	return g.prepareCode(ctx, r, sent, func(code store.Code) error {
		return checkRedirect(code, r.Form.Get("redirect_uri"))
	})
}

// checkRedirect compares the redirect_uri of a token request with that of the authorization request. This binds a
// code to the request that it was issued for, so that a stolen one cannot be injected into another sign-in. A
// code_verifier does the same, so with PKCE the parameter may be absent (OAuth 2.1 section 4.1.3); without PKCE it is
// required (RFC 6749 section 4.1.3). If it is sent, it must match.
func checkRedirect(code store.Code, sent string) error {
	switch {
	case sent == code.RedirectURI, sent == "" && code.Challenge != "":
		return nil
	case sent == "":
		return errNoRedirect
	}
	return errRedirect
}

// codes redeems the codes of one dialect, whichever parameter they come in.
type codes struct {
	*Families
	unsettled *backlog[exchange, outcome]
	dialect   store.Dialect // of the codes
	begins    store.Dialect // of the families
}

func newCodes(f *Families, codesOf, begins store.Dialect) codes {
	return codes{Families: f, unsettled: newBacklog(f.settleExchange), dialect: codesOf, begins: begins}
}

// prepareCode is Prepare for a code. bound checks what ties the code to its redeemer besides client and PKCE.
func (g *codes) prepareCode(ctx context.Context, r Request, sent string, bound func(store.Code) error) (Pending, error) {
	if len(sent) > maxCode {
		return Pending{}, g.gone(Unknown)
	}
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(sent)}
	record, code, err := g.findCode(ctx, key, r.Form)
	if err != nil {
		return Pending{}, err
	}
	if code.Client != r.Client.ID || code.IssuedAt.Before(r.Client.Since) {
		return Pending{}, g.gone(Foreign)
	}
	if err := bound(code); err != nil {
		return Pending{}, err
	}
	if err := checkVerifier(code, r.Form.Get("code_verifier")); err != nil {
		return Pending{}, err
	}
	if err := g.checkEnded(ctx, code.Client, code.Subject, code.Epochs); err != nil {
		return Pending{}, err
	}
	// Only the client that could have redeemed the code passes these checks, so a used code means a second
	// redemption. Any other request is refused above and ends nothing: otherwise anyone who saw a code in a log
	// could sign its user out.
	record, code, err = g.awaitOutcome(ctx, record, code)
	switch {
	case err != nil:
		return Pending{}, err
	case code.State == store.CodeRevoked:
		return Pending{}, g.gone(Revoked)
	case code.State != store.CodeIssued:
		return Pending{}, g.killFamily(ctx, code.Grant, errCodeReplay)
	}
	if err := bound(code); err != nil { // again, as it may have been claimed before
		return Pending{}, err
	}
	if !g.Now().Before(code.Expires) {
		return Pending{}, g.gone(Expired)
	}
	if code.RedirectURI != "" && !r.Client.MatchesRedirect(code.RedirectURI) {
		return Pending{}, refused(Redirect, "the redirect_uri is no longer registered")
	}
	scopes := stillAllowed(code.Scopes, r.Client)
	if len(scopes) == 0 {
		return Pending{}, errNoScope
	}
	switch active, err := g.activeUser(ctx, code.Subject); {
	case err != nil:
		return Pending{}, err
	case !active:
		return Pending{}, errNoUser
	}
	refreshes := r.Client.MayUse(oauth.RefreshToken)
	return Pending{
		Subject: code.Subject, Scopes: scopes, Family: code.Grant, Resources: code.Resources,
		AuthTime: code.AuthTime, Session: code.Session, Nonce: code.Nonce, Epochs: code.Epochs,
		Commit: func(ctx context.Context) (string, error) { return g.redeemCode(ctx, record, code, refreshes) },
	}, nil
}

// findCode gets a code and completes a used one from its grant, even if the code's own record is gone. Without a grant,
// the code has issued nothing.
func (g *codes) findCode(ctx context.Context, key store.Key, form httpx.Form) (store.Record, store.Code, error) {
	record, code, err := g.readCode(ctx, key)
	no := (*Refusal)(nil)
	gone := errors.As(err, &no) // the only refusal of readCode
	if gone {
		code.Grant = store.GrantOf(g.dialect, key.ID)
	} else if err != nil || !code.Trimmed() {
		return record, code, err
	}
	_, family, err := g.readFamily(ctx, code.Grant)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return record, code, g.gone(Unknown)
	case err != nil:
		return record, code, err
	}
	if gone {
		var used bool
		if code, used = family.UsedCode(g.dialect); !used {
			return record, code, g.gone(Unknown)
		}
	}
	return record, code.Restore(family, form.Get("redirect_uri"), form.Get("code_verifier")), nil
}

// checkVerifier applies PKCE (RFC 7636 section 4.6).
func checkVerifier(code store.Code, sent string) error {
	switch {
	case oauth.CheckPKCE(code.Challenge, sent):
		return nil
	case sent == "":
		return errNoVerifier
	case code.Challenge == "":
		return errUnaskedVerifier
	case !oauth.ValidVerifier(sent):
		return errVerifierForm
	}
	return errVerifier
}

// readCode gets a code of this dialect.
func (g *codes) readCode(ctx context.Context, key store.Key) (store.Record, store.Code, error) {
	var code store.Code
	record, err := store.Read(ctx, g.Store, key, &code)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return record, code, g.gone(Unknown)
	case err != nil:
		return record, code, err
	case code.Dialect != g.dialect:
		return record, code, g.gone(Unknown)
	}
	return record, code, nil
}
