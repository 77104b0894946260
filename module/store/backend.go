package store

import (
	"context"
	"errors"
	"time"
)

// Answers of a [Backend] that are not faults. Every other error it returns is a technical one: the caller knows
// nothing about the record and must answer 503, never as if the record were absent.
var (
	// ErrNotFound: no record under this key, or it has expired.
	ErrNotFound = errors.New("store: not found")
	// ErrExists: Create found a live record under this key.
	ErrExists = errors.New("store: already exists")
	// ErrConflict: Swap found another version than the one that was read.
	ErrConflict = errors.New("store: changed meanwhile")
)

// Kind names a family of records. It is part of the key.
type Kind string

// The kinds of records.
const (
	KindCode       Kind = "code"
	KindGrant      Kind = "grant"
	KindSession    Kind = "session"
	KindConsent    Kind = "consent"
	KindKeyRing    Kind = "keyring"
	KindRevocation Kind = "revocation"
	KindUser       Kind = "user"       // a user of the directory kept in the store, by ID
	KindUsername   Kind = "username"   // canonical user name -> user ID
	KindClient     Kind = "client"     // a client kept in the store, by client_id
	KindOrigin     Kind = "origin"     // that a stored client has a browser origin or an optional grant type; found by it
	KindPushed     Kind = "par"        // a pushed authorization request (RFC 9126)
	KindAssertion  Kind = "assertion"  // the jti of a client assertion that was used
	KindVanished   Kind = "vanished"   // a client that a configuration no longer had
	KindConfigured Kind = "configured" // the clients of the configuration that was loaded last
	KindLedger     Kind = "ledger"     // how many clients have registered themselves, and what they may have
	KindTicket     Kind = "ticket"     // a request that is confirmed on a second device, by its ID
	KindUserCode   Kind = "usercode"   // digest of a short code to type -> ID of its ticket
	KindTurn       Kind = "turn"       // notice that a ticket has changed; watched
	KindPairwise   Kind = "pairwise"   // what a user is called at a client of Variant B
	// KindIdempotency is a request with an Idempotency-Key, by the digest of key, caller and resource.
	KindIdempotency Kind = "idempotency"
	KindJob         Kind = "job"      // work that outlives its request, by its ID
	KindJobMark     Kind = "jobmark"  // that a job is not finished, by its ID; found by its queue
	KindEnding      Kind = "ending"   // since when everything of a user is dead, and the epoch counter
	KindPair        Kind = "pair"     // the live grants of one user at one client, and since when earlier ones are dead
	KindSweep       Kind = "sweep"    // dead records of a user that are still to be deleted
	KindKeyTally    Kind = "keytally" // how many idempotency keys a client has used, or KiB of answers it has kept, by a digest of its id
	KindProbe       Kind = "probe"    // means nothing: written to see whether writing works
	KindMove        Kind = "move"     // that records of another store are being copied into this one
)

// WatchedKinds are those that Watch is called for. No record of theirs is ever swapped.
func WatchedKinds() []Kind { return []Kind{KindRevocation, KindTurn} }

// Limits every backend must accept; larger ones may be refused.
const (
	MaxKeyLength   = 512       // bytes of Kind, ID and Parent, each
	MaxValueLength = 256 << 10 // bytes
)

// Key identifies a record.
type Key struct {
	Kind Kind
	ID   string
}

// Record is one stored value.
type Record struct {
	Key
	// Parent is the name under which List finds the record, for instance the
	// user it belongs to. Optional; fixed when the record is created.
	Parent string
	// Value is opaque to the backend. Neither side may change it after the call.
	Value []byte
	// Version changes with every write. Set by the backend, never 0 in a stored record.
	Version uint64
	// Expires is the moment from which the record is as good as absent. Zero: never.
	// Backends keep at least millisecond precision, rounding up.
	Expires time.Time
}

// Backend is a store of records, safe for concurrent use by any number of
// goroutines and, where the medium is shared, by any number of nodes.
//
// Every method MUST return within a bounded time when ctx ends, with an error that matches ctx.Err(). A write whose
// error is none of ErrNotFound, ErrExists and ErrConflict MAY have taken effect all the same. A write that returned
// nil MUST be durable: it survives kill -9 at once (and, for a shared medium, as durable as that medium is configured
// to be). Every method MUST be linearizable per key.
type Backend interface {
	// Get returns the live record under key, or ErrNotFound.
	Get(ctx context.Context, key Key) (Record, error)

	// Create stores r if no live record has its key, else ErrExists. r.Version is ignored. It returns r with the
	// version it was given. When it returns, List of r.Parent includes the record.
	Create(ctx context.Context, r Record) (Record, error)

	// Swap replaces value and expiry of the record if it is live (else ErrNotFound) and still has r.Version (else
	// ErrConflict). The stored parent stays; r.Parent is ignored. It returns the record with its new version.
	Swap(ctx context.Context, r Record) (Record, error)

	// Delete removes the record whatever its version. Removing what is not there is no error.
	Delete(ctx context.Context, key Key) error

	// List returns up to limit live records of the kind with this parent (which is not empty), in the order of their
	// IDs, beginning behind the ID after ("" for the first). It costs by the number of records with that parent,
	// never by the size of the store.
	List(ctx context.Context, kind Kind, parent, after string, limit int) ([]Record, error)

	// Watch calls deliver with all live records of the kind, in one or more calls of at most 1,000 records, then once
	// with nil to say that all were delivered, and from then on with each record created later, within one second of
	// the moment Create returned, on every node. A record may be delivered more than once. The kinds watched are
	// those whose records are never swapped. Calls of deliver do not overlap, and deliver does not block for long.
	// Watch returns ctx.Err() when ctx ends, or another error as soon as it can no longer promise the second; the
	// caller then starts anew.
	Watch(ctx context.Context, kind Kind, deliver func([]Record)) error

	// Close frees what the backend holds. Calls after or during Close fail with an error; none blocks for ever.
	Close() error
}

// Confirmer is implemented by a [Backend] that may return from a read what a failover still undoes: a write that waits
// for replicas and failed, perhaps on another node, may have reached the primary.
type Confirmer interface {
	// Confirm waits until the stored state of key is as durable as a write that returned nil. Errors are technical.
	Confirm(ctx context.Context, key Key) error
	// ConfirmList waits until the absence of each record that List of this parent does not find is as durable as a
	// Delete that returned nil. Errors are technical.
	ConfirmList(ctx context.Context, kind Kind, parent string) error
}

// Confirm is called before somebody is told that what was read under key is done. It does nothing for a backend whose
// reads are durable.
func Confirm(ctx context.Context, b Backend, key Key) error {
	if c, ok := b.(Confirmer); ok {
		return c.Confirm(ctx, key)
	}
	return nil
}

// ConfirmList is Confirm for whoever read with List what a parent has, and is told that the rest is gone.
func ConfirmList(ctx context.Context, b Backend, kind Kind, parent string) error {
	if c, ok := b.(Confirmer); ok {
		return c.ConfirmList(ctx, kind, parent)
	}
	return nil
}

// Source is what a store plugin gives the gateway: the backend it would open and an identity made of everything that
// shapes it, so that two configurations that name the same store share one backend across a reload.
type Source interface {
	// Identity returns a comparable value. It MUST NOT touch disk or network, except to resolve symbolic links.
	Identity() any
	// Open opens the backend. It is called at most once per identity and process lifetime of the backend, at first
	// use, never while a configuration is merely validated.
	Open(ctx context.Context) (Backend, error)
}

// SecretKeeper is implemented by a [Backend] that can keep the gateway's secret on
// this machine, apart from its records, when none is configured. Secret makes it at
// the first call and returns the same bytes (at least 32) ever after.
type SecretKeeper interface {
	Secret(ctx context.Context) ([]byte, error)
}
