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
// durable.
func RecordVanished(ctx context.Context, b Backend, client string, at time.Time) error {
	v := Vanished{Client: client, At: at}
	value, err := Encode(&v)
	if err != nil {
		return err
	}
	for range vanishTries {
		record, err := b.Get(ctx, VanishedKey(client))
		if errors.Is(err, ErrNotFound) {
			record = Record{Key: VanishedKey(client)}
		} else if err != nil {
			return err
		}
		record.Value = value
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
