package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// VanishedKey is where the record of a client is stored. The id goes in as a hash, since
// keys have a limit.
func VanishedKey(client string) Key {
	sum := sha256.Sum256([]byte(client))
	return Key{Kind: KindVanished, ID: hex.EncodeToString(sum[:])}
}

// vanishTries bounds how often the record is read again because another node wrote it.
const vanishTries = 20

// RecordVanished stores that a client is gone since at. When it returns nil that is
// durable. Of two nodes that say so the later time counts, whichever writes last: going
// back would bring to life what was granted in between.
func RecordVanished(ctx context.Context, b Backend, client string, at time.Time) error {
	for range vanishTries {
		var v Vanished
		record, err := Read(ctx, b, VanishedKey(client), &v)
		switch {
		case errors.Is(err, ErrNotFound):
			record = Record{Key: VanishedKey(client)}
		case err != nil:
			return err
		case !v.At.Before(at):
			return nil
		}
		v.Client, v.At = client, at
		if record.Value, err = Encode(&v); err != nil {
			return err
		}
		if written, err := Put(ctx, b, record); written || err != nil {
			return err
		}
	}
	return errors.New("store: the record of a client that is gone changed at every try")
}

// Configured is the clients of the configuration that was loaded last, stored under the
// hash of its issuer.
type Configured struct {
	schema
	Clients []string `json:"clients"` // client_ids, sorted
	// Gone are those that an earlier configuration had, with the time it was noticed.
	Gone map[string]time.Time `json:"gone,omitempty"`
}

// ConfiguredKey is where the record of an issuer is stored.
func ConfiguredKey(issuer string) Key {
	sum := sha256.Sum256([]byte(issuer))
	return Key{Kind: KindConfigured, ID: hex.EncodeToString(sum[:])}
}
