package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// maxKeyLives is how many keys of an algorithm may be alive at once: each stays until its
// last token has expired, and the key ring holds 64 of up to three algorithms.
const maxKeyLives = 16

// accessLife is how long access tokens are valid.
func (t Tokens) accessLife() time.Duration { return cmp.Or(time.Duration(t.Access), time.Hour) }

// variantBLife is how long those of Variant B are: its libraries expect two hours.
func (t Tokens) variantBLife() time.Duration { return cmp.Or(time.Duration(t.Access), 2*time.Hour) }

func (t Tokens) longestLife() time.Duration { return max(t.accessLife(), t.variantBLife()) }

// keyAge is the age at which a signing key is replaced.
func (t Tokens) keyAge() time.Duration { return cmp.Or(time.Duration(t.RotateKeys), 30*24*time.Hour) }

func (t Tokens) checkKeys() error {
	life, every := t.longestLife(), t.keyAge()
	if life/every >= maxKeyLives {
		return fmt.Errorf("tokens: rotate_keys: with %v, access tokens of %v would need more than %d signing keys at once; expected at least %v",
			every, life, maxKeyLives, life/maxKeyLives+time.Second)
	}
	return nil
}

// keyTending is what running configurations say about the signing keys of a core they
// share. The one that began last decides; when it ends, as one does that another app
// kept from starting, the one before decides again.
type keyTending struct {
	mu      sync.Mutex
	running []*App
}

func (k *keyTending) begin(a *App) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = append(k.running, a)
}

func (k *keyTending) end(a *App) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = slices.DeleteFunc(k.running, func(have *App) bool { return have == a })
}

func (k *keyTending) last() *App {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.running) == 0 {
		return nil
	}
	return k.running[len(k.running)-1]
}

// every is the age at which a key is replaced, 0 while nothing runs.
func (k *keyTending) every() time.Duration {
	if a := k.last(); a != nil {
		return a.Tokens.keyAge()
	}
	return 0
}

// record tells the audit trail what became of a key.
func (k *keyTending) record(ctx context.Context, c token.KeyChange) {
	a := k.last()
	if a == nil {
		return
	}
	e := audit.Event{Name: audit.KeyRotated, Key: c.Kid, Reason: c.Why}
	if c.Revoked {
		e.Name = audit.KeyRevoked
	}
	a.trail.Record(ctx, e)
}
