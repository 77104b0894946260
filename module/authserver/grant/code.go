package grant

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// maxCode is the longest code that is hashed and looked up. Ours have 43 characters.
const maxCode = 256

var errCodeRevoked = errors.New("grant: the authorization code was taken back while it was redeemed")

var errCodeReplay = errors.New("grant: a used authorization code was presented: its family is revoked")

// authorizationCode is RFC 6749 section 4.1.3 with PKCE (RFC 7636 section 4.6).
type authorizationCode struct{ codes }

func (g *authorizationCode) Type() oauth.GrantType { return oauth.AuthorizationCode }

func (g *authorizationCode) Prepare(ctx context.Context, r Request) (Pending, error) {
	sent := r.Form.Get("code")
	if sent == "" {
		return Pending{}, oauth.E(oauth.InvalidRequest, "code is missing")
	}
	return g.present(ctx, r, sent, func(code store.Code) error {
		if code.RedirectURI != r.Form.Get("redirect_uri") {
			return errRedirect
		}
		return nil
	})
}

// codes redeems the codes of one dialect, however they are presented.
type codes struct {
	families
	unsettled *unsettled
	dialect   store.Dialect // of the codes
	begins    store.Dialect // of the families
}

func newCodes(f families, codesOf, begins store.Dialect) codes {
	return codes{families: f, unsettled: newUnsettled(f.Now), dialect: codesOf, begins: begins}
}

// present is what presenting a code comes to. bound is asked what else ties the code to
// the one who may redeem it, besides client and PKCE.
func (g *codes) present(ctx context.Context, r Request, sent string, bound func(store.Code) error) (Pending, error) {
	if len(sent) > maxCode {
		return Pending{}, gone(Unknown)
	}
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(sent)}
	record, code, err := g.readCode(ctx, key)
	if err != nil {
		return Pending{}, err
	}
	// Each check stands alone.
	if code.Client != r.Client.ID || code.IssuedAt.Before(r.Client.Since) {
		return Pending{}, gone(Foreign)
	}
	if err := bound(code); err != nil {
		return Pending{}, err
	}
	if !oauth.CheckPKCE(code.Challenge, r.Form.Get("code_verifier")) {
		return Pending{}, errVerifier
	}
	// Who can answer all of that could have redeemed the code, so somebody else did. A
	// replay by one who cannot is refused above and ends nothing: else whoever saw a
	// code in a log could sign its user out.
	if code.State == store.CodeRevoked {
		return Pending{}, gone(Revoked)
	}
	if code.State != store.CodeIssued && !g.unsettled.has(key.ID, code.Attempt) {
		return Pending{}, g.kill(ctx, code.Grant, errCodeReplay)
	}
	if !g.Now().Before(code.Expires) {
		return Pending{}, gone(Expired)
	}
	if code.RedirectURI != "" && !r.Client.MatchesRedirect(code.RedirectURI) {
		return Pending{}, refused(Redirect, "the redirect_uri is no longer registered")
	}
	scopes := stillAllowed(code.Scopes, r.Client)
	if len(scopes) == 0 {
		return Pending{}, errNoScope
	}
	active, err := g.activeUser(ctx, code.Subject)
	if err != nil {
		return Pending{}, err
	}
	if !active {
		return Pending{}, errNoUser
	}
	p := redemption{record: record, code: code, refreshes: r.Client.MayUse(oauth.RefreshToken)}
	if p.refreshes {
		if p.keys, err = g.keys(ctx); err != nil {
			return Pending{}, err
		}
	}
	return Pending{
		Subject:   code.Subject,
		Scopes:    scopes,
		Family:    code.Grant,
		Resources: code.Resources,
		AuthTime:  code.AuthTime,
		Session:   code.Session,
		Nonce:     code.Nonce,
		Commit:    func(ctx context.Context) (string, error) { return g.redeem(ctx, p) },
	}, nil
}

// readCode gets a code that is one of this dialect.
func (g *codes) readCode(ctx context.Context, key store.Key) (store.Record, store.Code, error) {
	var code store.Code
	record, err := store.Read(ctx, g.Store, key, &code)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return record, code, gone(Unknown)
	case err != nil:
		return record, code, oauth.Unavailable(err)
	case code.Dialect != g.dialect:
		return record, code, gone(Unknown)
	}
	return record, code, nil
}

// redemption is a code that may be redeemed, as it was read.
type redemption struct {
	record    store.Record
	code      store.Code
	refreshes bool
	keys      *secret.Keys
}

// redeem begins the family and then uses the code up. In this order a replay always
// finds a family to kill; a family nobody redeemed the code for is merely unused.
func (g *codes) redeem(ctx context.Context, p redemption) (string, error) {
	now := g.Now()
	family := store.Grant{
		ID: p.code.Grant, Dialect: g.begins, Client: p.code.Client, Subject: p.code.Subject,
		Scopes: p.code.Scopes, Nonce: p.code.Nonce, AuthTime: p.code.AuthTime, Session: p.code.Session,
		Resources: p.code.Resources,
		IssuedAt:  now, Expires: now.Add(g.Access), Generation: 1, RotatedAt: now,
	}
	var token string
	if p.refreshes {
		family.Expires = now.Add(g.Refresh)
		var ok bool
		if token, ok = encodeRefresh(p.keys, family.ID, family.Generation, family.Client, family.Dialect); !ok {
			return "", oauth.E(oauth.ServerError, "").WithCause(errBadFamilyID)
		}
	}
	if err := g.create(ctx, family); err != nil {
		return "", oauth.Unavailable(err)
	}
	if err := g.use(ctx, p, family); err != nil {
		return "", err
	}
	return token, nil
}

// use moves the code to used. nil means: by this request, and no other has been told so.
func (g *codes) use(ctx context.Context, p redemption, family store.Grant) error {
	attempt := secret.ID()
	if used, ok := p.code.Redeem(attempt); ok {
		value, err := store.Encode(&used)
		if err != nil {
			return oauth.E(oauth.ServerError, "").WithCause(err)
		}
		record := p.record
		record.Value = value
		// As long as anything it issued can live, so that a replay is recognised, and never
		// shorter than it was to be: while the form that made it can be sent again, an
		// absent record would let the same code be made again.
		if end := family.Expires.Add(g.Access); end.After(record.Expires) {
			record.Expires = end
		}
		_, err = g.Store.Swap(ctx, record)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, store.ErrNotFound):
			return gone(Unknown)
		case !errors.Is(err, store.ErrConflict):
			g.unsettled.add(record.ID, attempt)
			return g.settle(ctx, record.Key, err)
		}
	}
	return g.settle(ctx, p.record.Key, errContended)
}

// settle reads the code once more, after a swap that did not certainly take effect.
func (g *codes) settle(ctx context.Context, key store.Key, swapErr error) error {
	_, code, err := g.readCode(ctx, key)
	switch {
	case err != nil:
		return err
	case code.State == store.CodeRevoked:
		// The user took it back after it was read: the family that redeem has begun dies
		// here, since whoever took it back may have looked for families before.
		return g.kill(ctx, code.Grant, errCodeRevoked)
	case code.State != store.CodeUsed:
		// Still issued: our write was lost, or is still under way.
		return oauth.Unavailable(swapErr)
	case g.unsettled.take(key.ID, code.Attempt):
		return nil
	}
	return g.kill(ctx, code.Grant, errCodeReplay)
}
