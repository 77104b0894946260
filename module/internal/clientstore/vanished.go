package clientstore

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
	// goneFor is for how long the tokens of a client that was removed from the configuration are
	// ended again at each load: other nodes may issue to it until they are updated.
	goneFor = 30 * 24 * time.Hour
	// maxGone is how many of the latest are remembered: each costs two writes at every load.
	maxGone = 100
)

// EndVanished ends the tokens of clients that the previous configuration had and this one does not
// have: for nodes that know no clients, and for when a client of that id is configured again.
//
// The last configuration that any node loads counts. Nodes of one issuer with different configurations therefore end
// the tokens of each other's clients when they load: that costs a new sign-in and admits nobody, and nothing tells
// which configuration is older. Every load repeats it for the clients that were removed recently, so tokens that a
// node with the former configuration issued in between end when that node is updated.
//
// A configuration with neither a client nor a site with `oauth_server` is a guard's, and writes
// nothing. Clients in the store are not concerned.
func (r *Registry) EndVanished(ctx context.Context, issuer string, trail audit.Sink, log *slog.Logger) error {
	if !r.Complete {
		return nil
	}
	now := time.Now()
	var v, before store.Configured
	var ended []string
	_, err := store.Change(ctx, r.Stored.Store, store.Record{Key: store.ConfiguredKey(issuer)}, &v, func(rec *store.Record) (write bool, err error) {
		before = v
		if v, ended, err = r.compareConfigured(ctx, before, now); err != nil {
			return false, err
		}
		// The notices first: a crash in between repeats them at the next load.
		for _, id := range ended {
			if err := r.endClient(ctx, id, now); err != nil {
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
			log.Warn("too many clients are configured to remember them: the tokens of one that is removed end by themselves only")
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return err
	}
	// A node that was not the first to write has read again, and finds those that another node has reported.
	for _, id := range ended {
		if slices.Contains(before.Clients, id) {
			log.Info("a client is no longer configured: its tokens end", slog.String("client", id))
			trail.Record(ctx, audit.Event{Name: audit.ClientChanged, Client: id, Reason: "deleted"})
		}
	}
	return nil
}

// compareConfigured returns the new record, and the clients whose tokens must end.
func (r *Registry) compareConfigured(ctx context.Context, before store.Configured, now time.Time) (after store.Configured, ended []string, err error) {
	after.Clients = slices.Sorted(maps.Keys(r.Configured))
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
		if _, there, err := r.Client(ctx, id); err != nil {
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

// endClient ends access tokens by a revocation, and grants by a record that is checked when they
// are used, because the grants of a client are not listed anywhere.
func (r *Registry) endClient(ctx context.Context, id string, now time.Time) error {
	err := r.Stored.Revocations.Revoke(ctx, store.Revocation{Of: store.RevokeClient, Value: id, At: now})
	if err != nil {
		return err
	}
	return store.RecordVanished(ctx, r.Stored.Store, id, now)
}
