package grant

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

var (
	errReplay   = errors.New("grant: a replaced refresh token was presented: its family is revoked")
	errUserGone = errors.New("grant: the user is locked, gone or signed out: the family is revoked")
)

// refreshToken is RFC 6749 section 6 with rotation (RFC 9700 section 4.14.2).
//
// A rotation is one compare-and-swap. It can take effect while its reply is lost, and if the record cannot be read
// either, the answer is 503 and nobody has the successor. A client that repeats its request within the grace period
// gets it at any node. For one that comes later, because the outage lasted, the node that failed writes into the
// record that it may (see lostrotations.go). Until then that node remembers it, and other nodes wait briefly before
// they treat the request as a replay.
type refreshToken struct {
	*Families
	lost *backlog[rotation, struct{}]
}

func newRefreshToken(f *Families) *refreshToken {
	return &refreshToken{f, newBacklog(f.settleRotation)}
}

func (g *refreshToken) Type() oauth.GrantType { return oauth.RefreshToken }

// presented is an authentic refresh token.
type presented struct {
	family     string
	generation uint64
	client     string
	keys       *secret.Keys
}

func (g *refreshToken) Prepare(ctx context.Context, r Request) (Pending, error) {
	sent := r.Form.Get("refresh_token")
	if sent == "" {
		return Pending{}, oauth.Parameter("refresh_token", "is missing")
	}
	keys, err := g.Keys(ctx)
	if err != nil {
		return Pending{}, err
	}
	p := presented{client: r.Client.ID, keys: keys}
	var ok bool
	if p.family, p.generation, ok = decodeRefresh(keys, sent, r.Client.ID, store.DialectOAuth); !ok {
		return Pending{}, g.gone(Unknown)
	}
	record, family, err := g.currentFamily(ctx, p)
	if err != nil {
		return Pending{}, err
	}
	s, err := g.decide(ctx, p, record, family)
	if err != nil {
		return Pending{}, err
	}
	if err := g.checkOutcome(ctx, s); err != nil {
		return Pending{}, err
	}
	family = s.family
	if err := g.checkClient(ctx, r.Client, family); err != nil {
		return Pending{}, err
	}
	scopes, err := narrowScopes(r.Form.Get("scope"), family.Scopes, r.Client)
	if err != nil {
		return Pending{}, err
	}
	if err := g.checkUser(ctx, family); err != nil {
		return Pending{}, err
	}
	return pending(family, scopes, func(ctx context.Context) (string, error) {
		return g.rotateFamily(ctx, p, s.record, s.family)
	}), nil
}

// step is the effect of presenting a token on its family, as it was read.
type step struct {
	record  store.Record
	family  store.Grant
	next    store.Grant // the family afterwards
	outcome store.Rotation
}

// decide determines the effect of presenting the token. An apparent replay of the token before the current one may be
// an honest repetition: its rotation was answered 503, and the node that did so is about to write that into the
// record. So the record is read again for a moment, even if the client hangs up.
func (g *refreshToken) decide(ctx context.Context, p presented, record store.Record, family store.Grant) (step, error) {
	s := step{record: record, family: family}
	for look := 1; ; look++ {
		s.next, s.outcome = s.family.Rotate(p.generation, g.Now(), g.RefreshGrace, g.RefreshIdle)
		if s.outcome != store.RotationReuse || p.generation+1 != s.family.Generation {
			return s, nil
		}
		if g.lostRotation(p.generation, s.family) {
			s.outcome = store.RotationAgain
			return s, nil
		}
		if look == maxLooks {
			return s, nil
		}
		ctx = context.WithoutCancel(ctx)
		time.Sleep(lookEvery)
		var err error
		if s.record, s.family, err = g.currentFamily(ctx, p); err != nil {
			return s, err
		}
	}
}

// checkOutcome refuses a token that gets no successor, and ends the family on a replay.
func (g *refreshToken) checkOutcome(ctx context.Context, s step) error {
	switch s.outcome {
	case store.RotationNext, store.RotationAgain:
		return nil
	case store.RotationReuse:
		return g.killFamily(ctx, s.family.ID, errReplay)
	}
	return g.gone(Expired)
}

// currentFamily reads the family of a token.
func (g *refreshToken) currentFamily(ctx context.Context, p presented) (store.Record, store.Grant, error) {
	record, family, err := g.readFamily(ctx, p.family)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return record, family, g.gone(Expired)
	case err != nil:
		return record, family, err
	case family.Client != p.client, family.Dialect != store.DialectOAuth:
		return record, family, g.gone(Foreign) // the MAC covers both: this cannot happen
	}
	return record, family, g.checkEnded(ctx, family.Client, family.Subject, family.Epochs)
}

// narrowScopes returns the scopes of the new access token: those granted that the client may still have, or the
// requested part of them.
func narrowScopes(requested string, granted []string, c *oauth.Client) ([]string, error) {
	have := stillAllowed(granted, c)
	wanted, ok := oauth.ParseScopes(requested)
	switch {
	case !ok:
		return nil, oauth.E(oauth.InvalidScope, "the scope parameter is malformed or too long")
	case !oauth.Subset(wanted, have):
		return nil, oauth.E(oauth.InvalidScope, "the scope is wider than what was granted")
	case len(have) == 0:
		return nil, errNoScope
	case len(wanted) > 0:
		return wanted, nil
	}
	return have, nil
}

// rotateFamily advances the family, starting from what was read, and returns the successor of the presented token.
func (g *refreshToken) rotateFamily(ctx context.Context, p presented, record store.Record, family store.Grant) (string, error) {
	for range tries {
		s, err := g.decide(ctx, p, record, family)
		if err != nil {
			return "", err
		}
		if err := g.checkOutcome(ctx, s); err != nil {
			return "", err
		}
		if s.outcome == store.RotationAgain {
			// Whoever rotated the family may have been told that the replicas do not have it.
			if err := store.Confirm(ctx, g.Store, s.record.Key); err != nil {
				return "", err
			}
			return p.successor()
		}
		switch err := g.swapFamily(ctx, s.record, s.next); {
		case err == nil:
			return p.successor()
		case errors.Is(err, store.ErrNotFound):
			return "", g.gone(Expired)
		case errors.Is(err, store.ErrConflict):
		case g.rotationWritten(ctx, p, s.next):
			return p.successor()
		default:
			// A client that hung up was not answered 503. If it counted, a thief could hang up on purpose to make the
			// replaced token good for longer.
			if !errors.Is(ctx.Err(), context.Canceled) {
				g.lost.add(rotationFrom(p.generation, s.next), struct{}{}, lostKept)
			}
			return "", err
		}
		if record, family, err = g.currentFamily(ctx, p); err != nil {
			return "", err
		}
	}
	return "", errContended
}

// rotationWritten reports whether a rotation whose reply was lost took effect. Without this check, a client without
// grace would look like a thief when it repeats its request.
func (g *refreshToken) rotationWritten(ctx context.Context, p presented, next store.Grant) bool {
	_, now, err := g.currentFamily(ctx, p)
	return err == nil && !now.Revoked() && now.Generation == next.Generation && now.RotatedAt.Equal(next.RotatedAt)
}

// successor is the token of the next generation. It is the same for every repetition.
func (p presented) successor() (string, error) {
	return encodeRefresh(p.keys, p.family, p.generation+1, p.client, store.DialectOAuth)
}
