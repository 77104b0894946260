package grant

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// families is what the grants that begin or continue a family share.
type families struct {
	Config
	pairTurns *pairTurns
	// presents is what refusals are about: the parameter code, device_code or refresh_token,
	// or "the grant" where the client presents none of them.
	presents string
}

func newFamilies(c Config) families {
	return families{Config: c, pairTurns: newPairTurns(), presents: "the grant"}
}

// presenting returns f with another parameter that its refusals are about.
func (f families) presenting(parameter string) families {
	f.presents = parameter
	return f
}

// grantKey is where a family is stored.
func grantKey(id string) store.Key { return store.Key{Kind: store.KindGrant, ID: id} }

// readFamily gets a family. Its errors are those of the store.
func (f families) readFamily(ctx context.Context, id string) (store.Record, store.Grant, error) {
	var g store.Grant
	record, err := store.Read(ctx, f.Store, grantKey(id), &g)
	return record, g, err
}

// begin stores a new family and makes room for it. That it exists is no error: another
// request with the same code was first. Errors are *oauth.Error.
func (f families) begin(ctx context.Context, g store.Grant) error {
	if _, err := f.createFamily(ctx, g, f.recordExpires(g)); err != nil {
		return oauth.Unavailable(err)
	}
	return f.admit(ctx, g)
}

// createFamily stores a new family; created is false when it exists. Errors are technical.
func (f families) createFamily(ctx context.Context, g store.Grant, expires time.Time) (created bool, err error) {
	value, err := store.Encode(&g)
	if err != nil {
		return false, err
	}
	_, err = f.Store.Create(ctx, store.Record{
		Key:     grantKey(g.ID),
		Parent:  g.Subject,
		Value:   value,
		Expires: expires,
	})
	if errors.Is(err, store.ErrExists) {
		return false, nil
	}
	return err == nil, err
}

// swapFamily replaces a family's record.
func (f families) swapFamily(ctx context.Context, record store.Record, g store.Grant) error {
	value, err := store.Encode(&g)
	if err != nil {
		return err
	}
	record.Value = value
	if !g.Revoked() { // the record of a dead one does not live longer
		record.Expires = f.recordExpires(g)
	}
	_, err = f.Store.Swap(ctx, record)
	return err
}

// recordExpires is when neither a refresh token nor an access token of the family can
// be alive any more: until then it is there to be revoked.
func (f families) recordExpires(g store.Grant) time.Time {
	end := g.Expires
	if idle := g.RotatedAt.Add(f.RefreshIdle); f.RefreshIdle > 0 && idle.Before(end) {
		end = idle
	}
	return end.Add(f.Access)
}

// killTime bounds a kill, which goes on when the one who caused it hangs up.
const killTime = 5 * time.Second

// killFamily ends a family and all it issued, because of what the operator is told by why. It
// returns the refusal to answer with: when the kill is not certain that is 503, so that
// no client believes a replay was dealt with.
func (f families) killFamily(ctx context.Context, id string, why error) error {
	g, ended, err := f.end(ctx, id)
	if err != nil {
		return oauth.Unavailable(err)
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

// reuse is what the audit trail calls the replays.
var reuse = map[error]audit.Name{errCodeReplay: audit.CodeReuse, errReplay: audit.RefreshReuse}

// end tells the guards and marks the record, in this order: while the record is not
// marked a repetition comes here again, and what a crash between the two leaves is a
// refresh token whose access tokens no guard takes. ended says that the family was alive
// until this call. Errors are technical.
func (f families) end(ctx context.Context, id string) (g store.Grant, ended bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	err = f.Revocations.Revoke(ctx, store.Revocation{Of: store.RevokeGrant, Value: id, At: f.Now()})
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

// markRevoked kills the record, and lets it expire soon: nothing limits how many grants a
// client begins and ends.
func (f families) markRevoked(ctx context.Context, id string) (g store.Grant, marked bool, err error) {
	_, err = store.Change(ctx, f.Store, store.Record{Key: grantKey(id)}, &g, func(record *store.Record) (bool, error) {
		if marked = record.Version != 0 && !g.Revoked(); !marked {
			return false, nil // everything of it has expired, or it is dead
		}
		if end := f.Now().Add(deadKept); end.Before(record.Expires) {
			record.Expires = end
		}
		g = g.Revoke(f.Now())
		return true, nil
	})
	return g, marked && err == nil, err
}

// ended reports whether what carries these epochs died with its user, or with what the
// user allowed the client. Errors are *oauth.Error.
func (f families) ended(ctx context.Context, client, subject string, e store.Epochs) (bool, error) {
	ended, err := ending.Ended(ctx, f.Store, subject, client, e)
	if err != nil {
		return false, oauth.Unavailable(err)
	}
	return ended, nil
}

// clientLeft reports whether the client was deleted, or taken out of the configuration,
// after the family had begun: a client of that id which comes back begins anew. Errors are
// those of the store.
func (f families) clientLeft(ctx context.Context, c *oauth.Client, g store.Grant) (bool, error) {
	if g.IssuedAt.Before(c.Since) {
		return true, nil
	}
	var v store.Vanished
	_, err := store.Read(ctx, f.Store, store.VanishedKey(g.Client), &v)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && !g.IssuedAt.After(v.At), err
}

// activeUser reports whether the user is there and may still be acted for.
func (f families) activeUser(ctx context.Context, subject string) (bool, error) {
	user, ok, err := f.Directory.Lookup(ctx, subject)
	if err != nil {
		return false, oauth.Unavailable(err)
	}
	// A user with such an ID would be taken for a client that acts for itself.
	return ok && !user.Locked && !strings.HasPrefix(user.ID, token.ClientSubject), nil
}

// keys returns the secrets.
func (f families) keys(ctx context.Context) (*secret.Keys, error) {
	k, err := f.Keys(ctx)
	if err != nil {
		return nil, oauth.Unavailable(err)
	}
	return k, nil
}

// stillAllowed is what remains of granted scopes when the client's configuration took
// some back meanwhile. The family keeps what the user gave, so that a scope given
// back to the client works again.
func stillAllowed(granted []string, c *oauth.Client) []string {
	return slices.DeleteFunc(slices.Clone(granted), func(s string) bool {
		return !slices.Contains(c.Scopes, s) && !slices.Contains(c.DefaultScopes, s)
	})
}
