package gateway

import (
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// Background is what a handler does when no request asks for it.
type Background interface {
	// Start MUST return at once. It is called when the configuration is in force.
	Start()
	// Stop begins nothing new. What was begun goes on; Stop is called once for each Start
	// or without one, also more than once.
	Stop()
	// Drain is called after Stop when the process ends: what was begun has so long to end,
	// and is interrupted then.
	Drain(grace time.Duration)
}

// Backlogged is a [Background] with work that waits.
type Backlogged interface {
	// Backlog MUST return at once. The name is from the configuration; known is false while
	// nothing is known.
	Backlog() (name string, waiting int, known bool)
}

// drainTime is how long the end of the process waits for what runs in the background.
const drainTime = 5 * time.Second

// attached is what runs in the background of one configuration.
type attached struct {
	all  []Background
	made map[string]string // what has a name, and from what it was made
}

// Attach runs b while the configuration does. Two of the same name must be made from the
// same: a site with several addresses is there several times.
func (a *App) Attach(name, from string, b Background) error {
	if other, ok := a.attached.made[name]; ok && other != from {
		return fmt.Errorf("there is another one of the name %s in this configuration: expected a `name` of its own for each", name)
	}
	if a.attached.made == nil {
		a.attached.made = make(map[string]string)
	}
	a.attached.made[name] = from
	a.attached.all = append(a.attached.all, b)
	return nil
}

func (b *attached) start() {
	for _, one := range b.all {
		one.Start()
	}
}

func (b *attached) stop() {
	for _, one := range b.all {
		one.Stop()
	}
	if !caddy.Exiting() {
		return
	}
	end := time.Now().Add(drainTime)
	for _, one := range b.all {
		one.Drain(max(time.Until(end), 0))
	}
}

// backlog is what waits, by name. A site with several addresses has one of a name for each.
func (b *attached) backlog() map[string]int {
	all := make(map[string]int)
	for _, one := range b.all {
		if q, ok := one.(Backlogged); ok {
			if name, n, known := q.Backlog(); known {
				all[name] = n
			}
		}
	}
	return all
}
