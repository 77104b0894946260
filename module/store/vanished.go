package store

import (
	"context"
	"errors"
	"time"
)

// Vanished says that a client was taken out of the configuration. It is kept when a client
// of that id comes back, which begins anew then: what was granted until At is dead.
type Vanished struct {
	schema
	Client string    `json:"client"`
	At     time.Time `json:"at"`
}

// VanishedKey is where the record of a client is stored. The id goes in as a hash, since keys have a limit.
func VanishedKey(client string) Key {
	return Key{Kind: KindVanished, ID: digest(client)}
}

// RecordVanished stores that a client is gone since at. When it returns nil that is durable. Of two nodes that say so
// the later time counts, whichever writes last: going back would bring to life what was granted in between.
func RecordVanished(ctx context.Context, b Backend, client string, at time.Time) error {
	var v Vanished
	_, err := Change(ctx, b, Record{Key: VanishedKey(client)}, &v, func(r *Record) (bool, error) {
		if r.Version != 0 && !v.At.Before(at) {
			return false, nil
		}
		v.Client, v.At = client, at
		return true, nil
	})
	return err
}

// HasStayed reports whether a client has been in the configuration since a moment, or never: false when it was taken out
// later, even if a client of that id has come back. Errors are technical.
func HasStayed(ctx context.Context, b Backend, client string, since time.Time) (bool, error) {
	var v Vanished
	_, err := Read(ctx, b, VanishedKey(client), &v)
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	return err == nil && since.After(v.At), err
}

// Configured is the clients of the configuration that was loaded last, stored under the hash of its issuer.
type Configured struct {
	schema
	Clients []string `json:"clients"` // client_ids, sorted
	// Gone are those that an earlier configuration had, with the time it was noticed.
	Gone map[string]time.Time `json:"gone,omitempty"`
}

// ConfiguredKey is where the record of an issuer is stored.
func ConfiguredKey(issuer string) Key {
	return Key{Kind: KindConfigured, ID: digest(issuer)}
}
