package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// goneFor is how long a client that was taken out of the configuration is looked
	// after: other nodes may go on with the former configuration, and issue to it, until
	// they are updated.
	goneFor = 30 * 24 * time.Hour
	// maxGone bounds those, the latest ones counting: each costs two writes at every load.
	maxGone = 100
)

// recordConfigured keeps what the configurations after this one have to know of it. It is
// called when a configuration starts.
func (a *App) recordConfigured(ctx context.Context) error {
	if r := a.Registration; r != nil {
		if err := a.clients.stored.KeepRegistration(ctx, r.Audience); err != nil {
			return fmt.Errorf("keeping what registered clients may have: %w", err)
		}
	}
	return a.endVanished(ctx)
}

// endVanished ends the tokens of clients that the configuration before had and this one
// has not, for the nodes that know no clients and for the day a client of that name is
// configured again.
//
// The last configuration that any node loads counts. Nodes of one issuer that load
// different ones in turn therefore end the tokens of clients which only the others have:
// that costs a new sign-in and lets nobody in, and which of two configurations is the
// older one cannot be told. So every load repeats it for the clients that went lately:
// what a node with the former configuration issued to them in between dies with its update.
//
// A configuration with neither a client nor a site with `oauth_server` is a guard's, and writes
// nothing. Clients in the store come and go by other ways.
func (a *App) endVanished(ctx context.Context) error {
	if !a.clients.complete {
		return nil
	}
	now := time.Now()
	var v, before store.Configured
	var ended []string
	_, err := store.Change(ctx, a.core.store, store.Record{Key: store.ConfiguredKey(a.issuer.String())}, &v, func(rec *store.Record) (write bool, err error) {
		before = v
		if v, ended, err = a.compare(ctx, before, now); err != nil {
			return false, err
		}
		// The notices first: a crash in between repeats them at the next load.
		for _, id := range ended {
			if err := a.endClient(ctx, id, now); err != nil {
				return false, fmt.Errorf("ending the tokens of client %s: %w", id, err)
			}
		}
		if slices.Equal(before.Clients, v.Clients) && maps.Equal(before.Gone, v.Gone) {
			ended = nil
			return false, nil
		}
		rec.Value, err = store.Encode(&v)
		if err == nil && len(rec.Value) > store.MaxValueLength {
			// Thousands of clients belong into the store. They work from here all the same.
			a.log.Warn("too many clients are configured to remember them: the tokens of one that is removed end by themselves only")
			return false, nil
		}
		return err == nil, err
	})
	if err == nil {
		a.tellVanished(ctx, before, ended)
	}
	return err
}

// tellVanished says of each client that went with this load that it is gone, once it is:
// who was not the first to write reads again, and finds whom another node has told of.
func (a *App) tellVanished(ctx context.Context, before store.Configured, ended []string) {
	for _, id := range ended {
		if slices.Contains(before.Clients, id) {
			a.log.Info("a client is no longer configured: its tokens end", slog.String("client", id))
			a.trail.Record(ctx, audit.Event{Name: audit.ClientChanged, Client: id, Reason: "deleted"})
		}
	}
}

// compare returns the record as it is to be, and whose tokens are to end.
func (a *App) compare(ctx context.Context, before store.Configured, now time.Time) (after store.Configured, ended []string, err error) {
	for _, c := range a.Clients {
		after.Clients = append(after.Clients, c.ID)
	}
	slices.Sort(after.Clients)
	gone := make(map[string]time.Time)
	for id, at := range before.Gone {
		if now.Sub(at) < goneFor {
			gone[id] = at
		}
	}
	for _, id := range before.Clients {
		gone[id] = now
	}
	for id := range gone {
		// Also one that moved from the configuration into the store is there.
		if _, there, err := a.clients.Client(ctx, id); err != nil {
			return after, nil, err
		} else if there {
			delete(gone, id)
		}
	}
	ended = slices.SortedFunc(maps.Keys(gone), func(x, y string) int { return gone[y].Compare(gone[x]) })
	if len(ended) > maxGone { // all that are new are ended once, whatever their number
		for _, id := range ended[maxGone:] {
			delete(gone, id)
		}
		ended = slices.DeleteFunc(ended, func(id string) bool {
			_, kept := gone[id]
			return !kept && !slices.Contains(before.Clients, id)
		})
	}
	if len(gone) > 0 {
		after.Gone = gone
	}
	return after, ended, nil
}

// endClient ends access tokens by a notice to the guards, and grants by a record that is
// looked at when they are used: which grants a client has is nowhere listed.
func (a *App) endClient(ctx context.Context, id string, now time.Time) error {
	err := a.core.revocations.Revoke(ctx, store.Revocation{Of: store.RevokeClient, Value: id, At: now})
	if err != nil {
		return err
	}
	return store.RecordVanished(ctx, a.core.store, id, now)
}
