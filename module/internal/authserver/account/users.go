package account

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/consent"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/userrecords"
	"github.com/gatehouse/gatehouse/module/store"
)

// Users ends what users have.
type Users struct {
	store    store.Backend
	ender    *ending.Ender
	families *grant.Families
	audit    audit.Sink
}

// NewUsers returns Users.
func NewUsers(s store.Backend, e *ending.Ender, f *grant.Families, a audit.Sink) *Users {
	return &Users{s, e, f, a}
}

// EndSubject signs a user out everywhere: when it returns nil every session is over, no authorization code of before can
// be redeemed, every grant (refresh token) of before is dead, and every guard refuses every access token of before within
// a second. What the user has allowed applications stays remembered. It takes the same few writes however much there
// is; the dead records are deleted later, see [ending.Sweeper].
//
// It is for sign-out everywhere, a changed password, and a user who was locked or deleted; change the directory first, so
// that nobody signs in the old way afterwards. Errors are technical: part of it may have happened, and calling again
// does the rest.
func (u *Users) EndSubject(ctx context.Context, subject string) error {
	if subject == "" {
		return errors.New("authserver: no subject to end")
	}
	if err := u.ender.EndSubject(ctx, subject); err != nil {
		return err
	}
	u.audit.Record(ctx, audit.Event{Name: audit.SignOutAll, Subject: subject})
	return nil
}

// ForgetSubject is EndSubject for a deleted user: it also forgets what the user has allowed, and the user's names at
// clients of Variant B.
func (u *Users) ForgetSubject(ctx context.Context, subject string) error {
	if err := u.EndSubject(ctx, subject); err != nil {
		return err
	}
	return errors.Join(u.deleteAll(ctx, store.KindConsent, subject), u.deleteAll(ctx, store.KindPairwise, subject))
}

func (u *Users) deleteAll(ctx context.Context, kind store.Kind, subject string) error {
	err := userrecords.Each(ctx, u.store, kind, subject, func(rec store.Record) error { return u.store.Delete(ctx, rec.Key) })
	if err != nil {
		return err
	}
	return store.ConfirmList(ctx, u.store, kind, subject)
}

// EndGrant ends one grant of a user: its refresh token and its access tokens. If the grant is unknown, dead or somebody
// else's, nothing happens, without error. Errors are technical.
func (u *Users) EndGrant(ctx context.Context, subject, grantID string) error {
	if subject == "" || grantID == "" {
		return errors.New("authserver: no grant to end")
	}
	var v store.Grant
	_, err := store.Read(ctx, u.store, store.Key{Kind: store.KindGrant, ID: grantID}, &v)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.Confirm(ctx, u.store, store.Key{Kind: store.KindGrant, ID: grantID})
	case err != nil:
		return err
	case v.Subject != subject:
		return nil
	}
	_, err = u.families.End(ctx, grantID)
	return err
}

// EndClient withdraws everything a user has allowed a client: the remembered consent, every code and every grant. The
// client has to ask again. Errors are technical; calling again does the rest.
func (u *Users) EndClient(ctx context.Context, subject, client string) error {
	if subject == "" || client == "" {
		return errors.New("authserver: no consent to end")
	}
	// The consent first: whoever reads the new epoch must find none, see package ending.
	if err := u.store.Delete(ctx, consent.Key(client, subject)); err != nil {
		return err
	}
	return u.ender.EndPair(ctx, client, subject)
}
