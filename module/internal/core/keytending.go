package core

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
)

// KeyTending is how running configurations that share a core look after its signing keys. The one
// that began last decides; when it ends, as one does that another app kept from starting, the
// one before decides again.
type KeyTending struct {
	mu      sync.Mutex
	running []*tender
}

type tender struct {
	age   time.Duration
	trail audit.Sink
}

// Begin has a configuration decide: keys are replaced at this age, and trail records it. The
// caller MUST call end when the configuration ends.
func (k *KeyTending) Begin(age time.Duration, trail audit.Sink) (end func()) {
	t := &tender{age, trail}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = append(k.running, t)
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.running = slices.DeleteFunc(k.running, func(have *tender) bool { return have == t })
	}
}

// last returns a tender without a trail while nothing runs.
func (k *KeyTending) last() tender {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.running) == 0 {
		return tender{trail: audit.Discard{}}
	}
	return *k.running[len(k.running)-1]
}

// Age is the age at which a key is replaced, 0 while no configuration runs.
func (k *KeyTending) Age() time.Duration { return k.last().age }

// record tells the audit trail that a key was made or revoked.
func (k *KeyTending) record(ctx context.Context, c keyring.Change) {
	e := audit.Event{Name: audit.KeyRotated, Key: c.Kid, Reason: c.Why}
	if c.Revoked {
		e.Name = audit.KeyRevoked
	}
	k.last().trail.Record(ctx, e)
}
