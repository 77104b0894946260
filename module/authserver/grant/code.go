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
type authorizationCode struct {
	families
	unsettled *unsettled
}

func (g *authorizationCode) Type() oauth.GrantType { return oauth.AuthorizationCode }

func (g *authorizationCode) Prepare(ctx context.Context, r Request) (Pending, error) {
	sent := r.Form.Get("code")
	if sent == "" {
		return Pending{}, oauth.E(oauth.InvalidRequest, "code is missing")
	}
	if len(sent) > maxCode {
		return Pending{}, errGone
	}
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(sent)}
	record, code, err := g.readCode(ctx, key)
	if err != nil {
		return Pending{}, err
	}
	if err := bound(code, r); err != nil {
		return Pending{}, err
	}
	// Who can answer all of that could have redeemed the code, so somebody else did. A
	// replay by one who cannot is refused above and ends nothing: else whoever saw a
	// code in a log could sign its user out.
	if code.State == store.CodeRevoked {
		return Pending{}, errGone
	}
	if code.State != store.CodeIssued && !g.unsettled.has(key.ID, code.Attempt) {
		return Pending{}, g.kill(ctx, code.Grant, errCodeReplay)
	}
	if !g.Now().Before(code.Expires) {
		return Pending{}, errGone
	}
	if code.RedirectURI != "" && !r.Client.MatchesRedirect(code.RedirectURI) {
		return Pending{}, invalid("the redirect_uri is no longer registered")
	}
	scopes := stillAllowed(code.Scopes, r.Client)
	if len(scopes) == 0 {
		return Pending{}, invalid("the client may no longer have any of the granted scopes")
	}
	active, err := g.activeUser(ctx, code.Subject)
	if err != nil {
		return Pending{}, err
	}
	if !active {
		return Pending{}, invalid("the user may no longer sign in")
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
func (g *authorizationCode) readCode(ctx context.Context, key store.Key) (store.Record, store.Code, error) {
	var code store.Code
	record, err := store.Read(ctx, g.Store, key, &code)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return record, code, errGone
	case err != nil:
		return record, code, oauth.Unavailable(err)
	case code.Dialect != store.DialectOAuth:
		return record, code, errGone
	}
	return record, code, nil
}

// bound checks what ties a code to the one who may redeem it. Each check stands alone.
func bound(code store.Code, r Request) error {
	switch {
	case code.Client != r.Client.ID, code.IssuedAt.Before(r.Client.Since):
		return errGone
	case code.RedirectURI != r.Form.Get("redirect_uri"):
		return invalid("redirect_uri is not the one of the authorization request")
	case !oauth.CheckPKCE(code.Challenge, r.Form.Get("code_verifier")):
		return invalid("code_verifier does not match the code_challenge of the authorization request")
	}
	return nil
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
func (g *authorizationCode) redeem(ctx context.Context, p redemption) (string, error) {
	now := g.Now()
	family := store.Grant{
		ID: p.code.Grant, Dialect: store.DialectOAuth, Client: p.code.Client, Subject: p.code.Subject,
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
func (g *authorizationCode) use(ctx context.Context, p redemption, family store.Grant) error {
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
			return errGone
		case !errors.Is(err, store.ErrConflict):
			g.unsettled.add(record.ID, attempt)
			return g.settle(ctx, record.Key, err)
		}
	}
	return g.settle(ctx, p.record.Key, errContended)
}

// settle reads the code once more, after a swap that did not certainly take effect.
func (g *authorizationCode) settle(ctx context.Context, key store.Key, swapErr error) error {
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
