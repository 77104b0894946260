package authserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

// tarpit is a directory that answers right passwords at once, and wrong ones after the third of a name too late.
type tarpit struct {
	directory.Directory
	mu     sync.Mutex
	wrong  map[string]int
	latest string // the name it was asked about
	events trail
	fault  error // instead of an answer
	silent bool  // wrong passwords never get an answer, also the first ones of a name
}

func (d *tarpit) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	u, ok, err := d.Directory.Authenticate(ctx, username, password)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.latest = username; !ok && err == nil {
		if d.wrong[username]++; d.wrong[username] > 3 || d.silent {
			return directory.User{}, false, fmt.Errorf("asking the endpoint: %w", d.fault)
		}
	}
	return u, ok, err
}

func newTarpit(t *testing.T, perAddress int) (*tokenRig, *tarpit) {
	d := &tarpit{wrong: make(map[string]int), fault: context.DeadlineExceeded}
	return newBrowserRig(t, twoUsers, func(c *authserver.Config) {
		d.Directory, c.Directory, c.Protect.PerAddress, c.Audit = c.Directory, d, perAddress, &d.events
	}), d
}

// A directory that delays the answer to wrong passwords until nobody waits for it any more does not let anybody try any
// number of them.
func TestGuessesWithoutAnAnswerAreLimited(t *testing.T) {
	g, d := newTarpit(t, 1000)
	home := g.home(ann)
	guess := func(name, password string, want int) {
		t.Helper()
		if status := g.browser().tries(name, password); status != want {
			t.Fatalf("%s, %s: %d, want %d", name, password, status, want)
		}
	}
	exhaust := func() {
		t.Helper()
		d.wrong["ann"] = 3
		for range 10 {
			guess("ann", "wrong", http.StatusServiceUnavailable)
		}
		d.latest = ""
		guess("ann", annsPassword, http.StatusServiceUnavailable)
		if d.latest != "" {
			t.Errorf("the directory was asked about %s once more", d.latest)
		}
	}
	exhaust()
	if got := d.events.of(audit.Lockout); len(got) != 1 || got[0].Subject != "u1" || got[0].Reason != "unanswered" {
		t.Errorf("recorded: %+v", got)
	}
	if status := home.tries("ann", annsPassword); status != http.StatusSeeOther {
		t.Errorf("a browser where she signed in before: %d", status)
	}
	guess("bob", "y", http.StatusSeeOther)
	g.pass(15*time.Minute - time.Second)
	guess("ann", annsPassword, http.StatusServiceUnavailable)
	g.pass(time.Second)
	guess("ann", annsPassword, http.StatusSeeOther)

	exhaust()
	for range 10 {
		home.tries("ann", "wrong")
	}
	if status := home.tries("ann", annsPassword); status != http.StatusServiceUnavailable {
		t.Errorf("her browser after ten guesses of its own: %d", status)
	}
	g.server.EndLockout("u1", "ann")
	guess("ann", annsPassword, http.StatusSeeOther)
	if status := home.tries("ann", annsPassword); status != http.StatusSeeOther {
		t.Errorf("her browser once unlocked: %d", status)
	}
}

func TestGuessesWithoutAnAnswerAreLimitedPerAddress(t *testing.T) {
	g, d := newTarpit(t, 30)
	for i := range 30 {
		name := fmt.Sprint("user", i)
		d.wrong[name] = 3
		if status := g.browser().tries(name, "wrong"); status != http.StatusServiceUnavailable {
			t.Fatalf("guess %d: %d", i, status)
		}
	}
	if status := g.browser().tries("ann", annsPassword); status != http.StatusServiceUnavailable {
		t.Errorf("after 30 guesses from this address: %d", status)
	}
	if got := d.events.of(audit.Lockout); len(got) != 0 {
		t.Errorf("a limited address is no lockout: %+v", got)
	}
	g.pass(time.Minute)
	if status := g.browser().tries("ann", annsPassword); status != http.StatusSeeOther {
		t.Errorf("a minute later: %d", status)
	}
}

// Nor does one that answers only wrong passwords in a way that nobody expects, such as with 429.
func TestGuessesWithAnUnclearAnswerAreLimited(t *testing.T) {
	for fault, want := range map[error]int{directory.ErrUnclear: http.StatusServiceUnavailable, errors.New("it is away"): http.StatusSeeOther} {
		g, d := newTarpit(t, 1000)
		d.wrong["ann"], d.fault = 3, fault
		for range 10 {
			if status := g.browser().tries("ann", "wrong"); status != http.StatusServiceUnavailable {
				t.Fatalf("%v: %d", fault, status)
			}
		}
		if status := g.browser().tries("ann", annsPassword); status != want {
			t.Errorf("the right password after ten times %v: %d, want %d", fault, status, want)
		}
	}
}

// In place of a locked user the directory is asked about a made-up name. One that never answers about those is not asked
// without limit.
func TestUnansweredAttemptsOfLockedUsersAreLimitedPerAddress(t *testing.T) {
	g, d := newTarpit(t, 30)
	d.wrong["ann"] = -10
	for range 10 {
		if status := g.browser().tries("ann", "wrong"); status != http.StatusUnauthorized {
			t.Fatalf("a wrong password: %d", status)
		}
	}
	d.silent = true
	asked := 0
	for range 40 {
		d.latest = ""
		if status := g.browser().tries("ann", "wrong"); status != http.StatusServiceUnavailable {
			t.Fatalf("a locked user: %d", status)
		}
		if d.latest != "" {
			asked++
		}
	}
	if asked != 30 {
		t.Errorf("the directory was asked %d times, want 30", asked)
	}
	g.from("198.51.100.7")
	d.latest = ""
	if g.browser().tries("ann", "wrong"); d.latest == "" {
		t.Error("the attempts of one address are counted for another")
	}
	if got := d.events.of(audit.Lockout); len(got) != 1 || got[0].Reason != "" {
		t.Errorf("recorded: %+v", got)
	}
	g.pass(15 * time.Minute)
	if status := g.browser().tries("ann", annsPassword); status != http.StatusSeeOther {
		t.Errorf("once the lock is over: %d", status)
	}
}
