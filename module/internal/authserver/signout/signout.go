package signout

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/consent"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/userrecords"
	"github.com/gatehouse/gatehouse/module/store"
)

// Families ends the families of refresh tokens.
type Families interface {
	// End kills a family; ended says that it was alive until then.
	End(ctx context.Context, id string) (ended bool, err error)
}

// Config is what Users needs; all of it.
type Config struct {
	Store    store.Backend
	Ender    *ending.Ender
	Families Families
	Audit    audit.Sink
}

// Users ends what users have.
type Users struct{ config Config }

// New returns Users.
func New(c Config) *Users { return &Users{c} }

// EndSubject signs a user out everywhere: when it returns nil every session is over, no
// authorization code of before can be redeemed, every grant (refresh token) of before is dead,
// and every access token of before is refused by every guard within a second. What the user has
// allowed applications stays remembered. It takes the same few writes however much there is; the
// dead records are deleted later, see [ending.Sweeper].
//
// It is for sign-out everywhere, a changed password and a user who was locked or deleted; change
// the directory first, so that nobody signs in the old way behind it. Errors are technical; then
// some of it may have happened, and calling again does the rest.
func (u *Users) EndSubject(ctx context.Context, subject string) error {
	if subject == "" {
		return errors.New("authserver: no subject to end")
	}
	if err := u.config.Ender.EndSubject(ctx, subject); err != nil {
		return err
	}
	u.config.Audit.Record(ctx, audit.Event{Name: audit.SignOutAll, Subject: subject})
	return nil
}

// ForgetSubject is EndSubject for a user who is deleted: neither what was allowed nor what the
// user is called at clients of Variant B is remembered any longer.
func (u *Users) ForgetSubject(ctx context.Context, subject string) error {
	if err := u.EndSubject(ctx, subject); err != nil {
		return err
	}
	remove := func(rec store.Record) error { return u.config.Store.Delete(ctx, rec.Key) }
	return errors.Join(
		userrecords.Each(ctx, u.config.Store, store.KindConsent, subject, remove),
		userrecords.Each(ctx, u.config.Store, store.KindPairwise, subject, remove),
	)
}

// EndGrant kills one grant of a user: its refresh token and its access tokens. A grant that is
// unknown, dead or somebody else's is no error, and nothing happens. Errors are technical.
func (u *Users) EndGrant(ctx context.Context, subject, grantID string) error {
	if subject == "" || grantID == "" {
		return errors.New("authserver: no grant to end")
	}
	var v store.Grant
	_, err := store.Read(ctx, u.config.Store, store.Key{Kind: store.KindGrant, ID: grantID}, &v)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case v.Subject != subject || v.Revoked():
		return nil
	}
	_, err = u.config.Families.End(ctx, grantID)
	return err
}

// EndClient withdraws everything a user has allowed a client: the remembered consent, every code
// and every grant. The client has to ask again. Errors are technical; calling again does the
// rest.
func (u *Users) EndClient(ctx context.Context, subject, client string) error {
	if subject == "" || client == "" {
		return errors.New("authserver: no consent to end")
	}
	// The consent first: whoever reads the new epoch must find none, see package ending.
	if err := u.config.Store.Delete(ctx, consent.Key(client, subject)); err != nil {
		return err
	}
	return u.config.Ender.EndPair(ctx, client, subject)
}
