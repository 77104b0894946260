package gateway

import (
	"fmt"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// Background is what a handler does when no request asks for it.
type Background interface {
	// Start is called when the configuration comes into force. It MUST return at once.
	Start()
	// Stop starts nothing new; running work goes on. It may be called without Start, and more than once.
	Stop()
	// Drain is called after Stop when the process ends. It interrupts work that still runs after the grace period.
	Drain(grace time.Duration)
	// Backlog returns the length of its queue, whose name is from the configuration, if known. It MUST return at once.
	Backlog() (name string, waiting int, known bool)
}

// drainTime is how long the process waits for background work when it ends.
const drainTime = 5 * time.Second

// attached is what runs in the background of one configuration.
type attached struct {
	all  []Background
	made map[string]string // from what each name was made
	mu   sync.Mutex
	over bool // the configuration has ended
}

// Attach runs b while the configuration is in force. A site with several addresses is provisioned several times: of several
// with the same name, which must be made from the same configuration, only the first runs.
func (a *App) Attach(name, from string, b Background) error {
	switch other, ok := a.attached.made[name]; {
	case ok && other != from:
		return fmt.Errorf("there is another one of the name %s in this configuration: expected a `name` of its own for each", name)
	case ok:
		return nil
	case a.attached.made == nil:
		a.attached.made = make(map[string]string)
	}
	a.attached.made[name] = from
	a.attached.all = append(a.attached.all, b)
	return nil
}

// start does nothing after stop: a configuration may end while it comes into force.
func (b *attached) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	for _, one := range b.all {
		one.Start()
	}
}

func (b *attached) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	for _, one := range b.all {
		one.Stop()
	}
	if !caddy.Exiting() {
		return
	}
	var all sync.WaitGroup
	for _, one := range b.all {
		all.Go(func() { one.Drain(drainTime) })
	}
	all.Wait()
}

// backlog is the length of each queue, by name.
func (b *attached) backlog() map[string]int {
	all := make(map[string]int)
	for _, one := range b.all {
		if name, n, known := one.Backlog(); known {
			all[name] = n
		}
	}
	return all
}
