package authserver_test

import (
	"context"
	"strings"
	"sync"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

// trail keeps what was recorded.
type trail struct {
	mu     sync.Mutex
	events []audit.Event
}

func recorded(to **trail) func(*authserver.Config) {
	*to = &trail{}
	return func(c *authserver.Config) { c.Audit = *to }
}

func (a *trail) Record(_ context.Context, e audit.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
}

// of gives the events of a name.
func (a *trail) of(name audit.Name) (found []audit.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.events {
		if e.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// count says how often an event with this reason was recorded.
func (a *trail) count(name audit.Name, reason string) (n int) {
	for _, e := range a.of(name) {
		if e.Reason == reason {
			n++
		}
	}
	return n
}

func (a *trail) names() (names []audit.Name) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.events {
		names = append(names, e.Name)
	}
	return names
}

func (a *trail) last() audit.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.events[len(a.events)-1]
}

// told gives a line of all events since it was last asked.
func (a *trail) told() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for _, e := range a.events {
		all = append(all, strings.TrimSpace(string(e.Name)+" "+e.Client+" "+e.Subject+" "+e.Reason))
	}
	a.events = nil
	return strings.Join(all, ", ")
}
