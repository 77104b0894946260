package grant

import (
	"context"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Passwords checks user names and passwords.
type Passwords interface {
	// CheckPassword returns the user with this name and password. ok is false for an unknown name, a wrong password,
	// a locked user and a name that failed attempts have locked, and all of these MUST cost the same time. It MUST
	// count attempts together with those of the login page; otherwise one would bypass the other. Errors are
	// *oauth.Error, for a limit or a fault.
	CheckPassword(ctx context.Context, r Request, username, password string) (u directory.User, ok bool, err error)
}

// errPassword is the same refusal for every reason, so that a client cannot learn the reason.
var errPassword = oauth.E(oauth.InvalidGrant, "the user name or the password is wrong")

// passwordGrant is RFC 6749 section 4.3, which RFC 9700 section 2.4 forbids: it is for legacy applications and
// ends at a date, which [Rules] knows.
type passwordGrant struct{ *Families }

func (*passwordGrant) Type() oauth.GrantType { return oauth.Password }

// Prepare checks the scope before the password, so that a request which cannot succeed costs neither an attempt nor a
// hash.
func (g *passwordGrant) Prepare(ctx context.Context, r Request) (Pending, error) {
	username, password := r.Form.Get("username"), r.Form.Get("password")
	if username == "" || password == "" {
		return Pending{}, oauth.E(oauth.InvalidRequest, "username or password is missing")
	}
	scopes, refusal := r.Client.GrantableScopes(r.Form.Get("scope"))
	if refusal != nil {
		return Pending{}, refusal
	}
	now := g.Now()
	family := store.Grant{
		ID: secret.ID(), Dialect: store.DialectOAuth, Client: r.Client.ID, Scopes: scopes,
		Resources: r.Resources,
		AuthTime:  now, IssuedAt: now, Expires: now.Add(g.Access), Generation: 1, RotatedAt: now,
	}
	token := ""
	if r.Client.MayUse(oauth.RefreshToken) {
		var err error
		if token, err = g.firstRefresh(ctx, &family); err != nil {
			return Pending{}, err
		}
	}
	epoch, err := ending.CurrentEpoch(ctx, g.Store) // before the password: see package ending
	if err != nil {
		return Pending{}, err
	}
	family.Epochs = store.Epochs{Subject: epoch, Pair: epoch}
	user, ok, err := g.Passwords.CheckPassword(ctx, r, username, password)
	switch {
	case err != nil:
		return Pending{}, err
	case !ok:
		return Pending{}, errPassword
	}
	family.Subject = user.ID
	return pending(family, scopes, func(ctx context.Context) (string, error) {
		return token, g.beginFor(ctx, family)
	}), nil
}

// beginFor stores the family, and then checks the user again, who may have been locked while the password was
// checked.
func (g *passwordGrant) beginFor(ctx context.Context, family store.Grant) error {
	if err := g.beginFamily(ctx, family); err != nil {
		return err
	}
	if err := g.checkUser(ctx, family); err != nil {
		return err
	}
	ended, err := ending.EndedSince(ctx, g.Store, family.Subject, family.Client, family.Epochs.Subject)
	switch {
	case err != nil:
		return err
	case ended:
		return g.killFamily(ctx, family.ID, errUserGone)
	}
	return nil
}
