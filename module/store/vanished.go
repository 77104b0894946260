package store

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Vanished says that a configured client was taken out of the configuration. It is kept
// when the client comes back, which begins anew then: what it was granted until At is dead.
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
