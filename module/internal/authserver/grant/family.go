package grant

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// grantKey is where a family is stored.
func grantKey(id string) store.Key { return store.Key{Kind: store.KindGrant, ID: id} }

// readFamily gets a family. Its errors are those of the store.
func (f *Families) readFamily(ctx context.Context, id string) (store.Record, store.Grant, error) {
	var g store.Grant
	record, err := store.Read(ctx, f.Store, grantKey(id), &g)
	return record, g, err
}

// beginFamily stores a new family and makes room for it. If the family exists, another request with the same code
// was first; that is not an error.
func (f *Families) beginFamily(ctx context.Context, g store.Grant) error {
	if _, err := f.createFamily(ctx, g, f.recordExpires(g)); err != nil {
		return err
	}
	return f.admit(ctx, g)
}

// createFamily stores a new family; created is false if it exists. Errors are technical.
func (f *Families) createFamily(ctx context.Context, g store.Grant, expires time.Time) (created bool, err error) {
	_, err = store.Create(ctx, f.Store, store.Record{Key: grantKey(g.ID), Parent: g.Subject, Expires: expires}, &g)
	if errors.Is(err, store.ErrExists) {
		return false, nil
	}
	return err == nil, err
}

// swapFamily replaces a family's record.
func (f *Families) swapFamily(ctx context.Context, record store.Record, g store.Grant) error {
	if !g.Revoked() { // the record of a dead family is not extended
		record.Expires = f.recordExpires(g)
	}
	_, err := store.Swap(ctx, f.Store, record, &g)
	return err
}

// recordExpires returns when neither a refresh token nor an access token of the family can be alive any more: until
// then the record is needed to revoke it.
func (f *Families) recordExpires(g store.Grant) time.Time {
	end := g.Expires
	if idle := g.RotatedAt.Add(f.RefreshIdle); f.RefreshIdle > 0 && idle.Before(end) {
		end = idle
	}
	return end.Add(f.Access)
}

// killTime bounds the end of a family, which continues if the client hangs up.
const killTime = 5 * time.Second

// killFamily ends a family and everything it issued; why is for the log. It returns the refusal for the client: 503
// if the end is not certain, so that no client believes that a replay was handled.
func (f *Families) killFamily(ctx context.Context, id string, why error) error {
	g, ended, err := f.endFamily(ctx, id)
	if err != nil {
		return err
	}
	if name := reuse[why]; ended && name != "" {
		f.Audit.Record(ctx, audit.Event{Name: name, Client: g.Client, Subject: g.Subject, Grant: g.ID, Scopes: g.Scopes})
	}
	reason := Revoked
	if reuse[why] != "" {
		reason = Used
	}
	return f.gone(reason).because(why)
}

// reuse has the audit event of each kind of replay.
var reuse = map[error]audit.Name{errCodeReplay: audit.CodeReuse, errReplay: audit.RefreshReuse}

// endFamily notifies the guards and then marks the record. While the record is not marked, a repetition gets here
// again, and a crash in between leaves a refresh token whose access tokens no guard accepts. ended reports that the
// family was alive until this call. Errors are technical.
func (f *Families) endFamily(ctx context.Context, id string) (g store.Grant, ended bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	known := store.Grant{ID: id} // for its client and its last use, as far as it can be read
	_, _ = store.Read(ctx, f.Store, grantKey(id), &known)
	err = f.Revocations.Revoke(ctx, f.revocationOf(known))
	if err != nil {
		return g, false, err
	}
	if g, ended, err = f.markRevoked(ctx, id); ended {
		f.unlist(ctx, g)
		// If this fails the code's record stays until the grant would have expired.
		_ = f.expireCode(ctx, g)
	}
	return g, ended, err
}

// revocationOf returns the notice that ends a family's access tokens. A node whose clock is ahead may have issued the last
// one: guards must remember the notice for as long as that token lives.
func (f *Families) revocationOf(g store.Grant) store.Revocation {
	return store.Revocation{Of: store.RevokeGrant, Value: g.ID, At: latest(f.Now(), g.RotatedAt), Client: g.Client}
}

// markRevoked marks the record as revoked and lets it expire soon: nothing limits how many grants a client begins
// and ends.
func (f *Families) markRevoked(ctx context.Context, id string) (g store.Grant, marked bool, err error) {
	_, err = store.Change(ctx, f.Store, store.Record{Key: grantKey(id)}, &g, func(record *store.Record) (bool, error) {
		if marked = record.Version != 0 && !g.Revoked(); !marked { // everything of it has expired, or it is dead
			return false, store.Confirm(ctx, f.Store, record.Key)
		}
		if end := f.Now().Add(deadKept); end.Before(record.Expires) {
			record.Expires = end
		}
		g = g.Revoke(f.Now())
		return true, nil
	})
	return g, marked && err == nil, err
}

// checkEnded refuses what ended with its user, or with what the user allowed the client.
func (f *Families) checkEnded(ctx context.Context, client, subject string, e store.Epochs) error {
	ended, err := ending.Ended(ctx, f.Store, subject, client, e)
	if err == nil && ended {
		err = f.gone(Revoked)
	}
	return err
}

// checkClient refuses a family that began before its client was deleted or removed from the configuration: a client
// that returns with the same ID starts anew.
func (f *Families) checkClient(ctx context.Context, c *oauth.Client, g store.Grant) error {
	if g.IssuedAt.Before(c.Since) {
		return f.gone(Foreign)
	}
	stayed, err := store.HasStayed(ctx, f.Store, g.Client, g.IssuedAt)
	if err == nil && !stayed {
		return f.gone(Foreign)
	}
	return err
}

// activeUser reports whether the user exists and may act.
func (f *Families) activeUser(ctx context.Context, subject string) (bool, error) {
	user, ok, err := f.Directory.Lookup(ctx, subject)
	// A user with such an ID would be mistaken for a client that acts for itself.
	return ok && !user.Locked && !strings.HasPrefix(user.ID, token.ClientSubject), err
}

// checkUser ends a family whose user no longer exists or may no longer act.
func (f *Families) checkUser(ctx context.Context, g store.Grant) error {
	active, err := f.activeUser(ctx, g.Subject)
	if err == nil && !active {
		err = f.killFamily(ctx, g.ID, errUserGone)
	}
	return err
}

// pending returns what is issued to a family again.
func pending(g store.Grant, scopes []string, commit func(context.Context) (string, error)) Pending {
	return Pending{
		Subject: g.Subject, Scopes: scopes, Family: g.ID, Resources: g.Resources, AuthTime: g.AuthTime,
		Session: g.Session, Epochs: g.Epochs, Commit: commit,
	}
}

// stillAllowed returns the granted scopes that the client's configuration still contains. The family keeps all of
// them, so that a scope that returns to the configuration works again.
func stillAllowed(granted []string, c *oauth.Client) []string {
	return slices.DeleteFunc(slices.Clone(granted), func(s string) bool {
		return !slices.Contains(c.Scopes, s) && !slices.Contains(c.DefaultScopes, s)
	})
}
