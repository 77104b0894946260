package clientstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// The caller is at fault for these and for [*oauth.FieldError]. All other errors are technical.
var (
	// ErrNotFound: no client in the store has this id.
	ErrNotFound = errors.New("there is no client of this id in the store")
	// ErrExists: the id is taken, in the store or by the configuration.
	ErrExists = errors.New("a client of this id exists")
)

// invalid is an error about fields of a definition.
func invalid(err error, fields ...string) error { return &oauth.FieldError{Fields: fields, Err: err} }

// Revoker makes every guard refuse something. When it returns nil the revocation is durable;
// repeating it is no error.
type Revoker interface {
	Revoke(ctx context.Context, r store.Revocation) error
}

// Config is what [Clients] need.
type Config struct {
	Store store.Backend
	// Revocations end the tokens of a client that is deleted.
	Revocations Revoker
	// Taken reports the ids of configured clients, which no stored client may have. Default: none.
	Taken func(id string) bool
	// Scopes are the declared ones. Others are refused in a definition, and withheld from
	// clients that got them before. nil: all are allowed.
	Scopes []string
	// RegisteredScopes are the most that clients which registered themselves may have, including
	// those that registered when there were more. nil: none can register, and what was kept last
	// (see KeepRegistration) still applies; if nothing was, what each registered.
	RegisteredScopes []string
	// Now defaults to time.Now.
	Now func() time.Time
}

// Clients are the clients in the store. They are safe for concurrent use and cache nothing: what
// one node deletes is gone on every node at once.
type Clients struct{ Config }

// New checks the configuration. It touches no store.
func New(c Config) (*Clients, error) {
	if c.Store == nil || c.Revocations == nil {
		return nil, errors.New("clientstore: an incomplete Config")
	}
	if c.Taken == nil {
		c.Taken = func(string) bool { return false }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Clients{c}, nil
}

func clientKey(id string) store.Key { return store.Key{Kind: store.KindClient, ID: id} }

// Client finds a client, without secrets that have expired. ok is false for an unknown one; errors are technical.
func (c *Clients) Client(ctx context.Context, id string) (client *oauth.Client, ok bool, err error) {
	_, kept, err := c.readRecord(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	last, err := c.lastRegistration(ctx, kept)
	if err != nil {
		return nil, false, err
	}
	return c.effectiveClient(kept, last), true, nil
}

// Get returns the definition of a client, or [ErrNotFound].
func (c *Clients) Get(ctx context.Context, id string) (Definition, error) {
	_, kept, err := c.readRecord(ctx, id)
	if err != nil {
		return Definition{}, err
	}
	return c.definitionOf(kept), nil
}

// List returns up to limit clients in the order of their ids, starting behind the id after ("" for the first).
func (c *Clients) List(ctx context.Context, after string, limit int) ([]Definition, error) {
	var all []Definition
	for _, parent := range []string{store.ClientParent, store.RegisteredParent} {
		page, err := c.listRecords(ctx, parent, after, limit)
		if err != nil {
			return nil, err
		}
		for _, kept := range page {
			all = append(all, c.definitionOf(kept))
		}
	}
	slices.SortFunc(all, func(a, b Definition) int { return cmp.Compare(a.ID, b.ID) })
	return all[:min(len(all), limit)], nil
}

// Count returns how many clients there are, up to a limit. It reads as many.
func (c *Clients) Count(ctx context.Context, limit int) (n int, err error) {
	for _, parent := range []string{store.ClientParent, store.RegisteredParent} {
		for after := ""; n < limit; {
			page, err := c.Store.List(ctx, store.KindClient, parent, after, min(countPage, limit-n))
			if err != nil {
				return n, err
			}
			if len(page) == 0 {
				break
			}
			n, after = n+len(page), page[len(page)-1].ID
		}
	}
	return n, nil
}

const countPage = 500

// listRecords lists the records of one parent.
func (c *Clients) listRecords(ctx context.Context, parent, after string, limit int) ([]store.Client, error) {
	records, err := c.Store.List(ctx, store.KindClient, parent, after, limit)
	if err != nil {
		return nil, err
	}
	all := make([]store.Client, len(records))
	for i, r := range records {
		if err := store.Decode(r.Value, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readRecord gets a client. An invalid id is not looked up: keys of the store have a limited
// length, and ids come from outside.
func (c *Clients) readRecord(ctx context.Context, id string) (store.Record, store.Client, error) {
	var kept store.Client
	if !oauth.ValidClientID(id) {
		return store.Record{}, kept, ErrNotFound
	}
	record, err := store.Read(ctx, c.Store, clientKey(id), &kept)
	if errors.Is(err, store.ErrNotFound) {
		err = ErrNotFound
	}
	return record, kept, err
}
