package authserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

// aliases is a directory in which ann has any number of names: whatever ends in
// "@example.com".
type aliases struct {
	directory.Directory
	identified atomic.Int64 // so many questions
	late       bool         // tells whom a name leads to only with the answer about the password
}

func named(username string) string {
	if strings.HasSuffix(username, "@example.com") {
		return "ann"
	}
	return username
}

func (d *aliases) Identify(ctx context.Context, username string) (string, bool, error) {
	d.identified.Add(1)
	if d.late {
		return "", false, nil
	}
	return d.Directory.Identify(ctx, named(username))
}

func (d *aliases) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	u, ok, err := d.Directory.Authenticate(ctx, named(username), password)
	if d.late && err == nil && !ok {
		u.ID, _, _ = d.Directory.Identify(ctx, named(username))
	}
	return u, ok, err
}

func newAliasRig(t *testing.T, late bool, change ...func(*authserver.Config)) (*tokenRig, *watched) {
	t.Helper()
	var d *watched
	set := func(c *authserver.Config) {
		twoUsers(c)
		d = &watched{Directory: &aliases{Directory: c.Directory, late: late}}
		c.Directory = d
		c.Protect.PerAddress = 1000
	}
	return newPasswordRig(t, append([]func(*authserver.Config){set}, change...)...), d
}

func alias(i int) string { return fmt.Sprint("ann", i, "@example.com") }

func TestGuessesCountPerUserInAnySpelling(t *testing.T) {
	for name, late := range map[string]bool{"a directory that identifies": false, "one that tells with its answer": true} {
		t.Run("N08 "+name, func(t *testing.T) {
			var events *trail
			g, d := newAliasRig(t, late, recorded(&events))
			b := g.browser()
			login := b.get(tokenIssuer + "/login")
			try := func(user, pass string) page { return g.browserAt(b).signIn(login, user, pass) }
			wrong := try("nobody", "wrong")
			for i := range 10 {
				if p := try(alias(i), annsPassword); p.status != http.StatusSeeOther { // which neither counts nor forgives
					t.Fatalf("right password after %d wrong ones: %d", i, p.status)
				}
				if p := try(alias(i), "wrong"); p.status != http.StatusUnauthorized {
					t.Fatalf("%d: %d", i, p.status)
				}
			}
			for _, user := range []string{"ann", "ANN", alias(0), alias(99)} {
				p := try(user, annsPassword)
				if got := strings.ReplaceAll(p.body, `value="`+user+`"`, `value="nobody"`); p.status != http.StatusUnauthorized || got != wrong.body {
					t.Errorf("%s signs in, or is told of the lock: %d", user, p.status)
				}
			}
			g.want(g.token(passwordOf("ann", annsPassword)), 400, "invalid_grant")
			if asked := d.asked(); !late && asked[len(asked)-1] == "ann" {
				t.Error("the password of a locked user was looked at")
			}
			if got := events.of(audit.Lockout); len(got) != 1 || got[0].Subject != "u1" || got[0].User != "" {
				t.Errorf("lockouts: %+v", got)
			}
			if p := try("bob", "y"); p.status != http.StatusSeeOther {
				t.Errorf("another user: %d", p.status)
			}
			g.pass(15 * time.Minute)
			login = b.get(tokenIssuer + "/login")
			if p := try("ann", annsPassword); p.status != http.StatusSeeOther {
				t.Errorf("after the lock: %d", p.status)
			}
		})
	}
}

// Unknown, wrong, locked as a name and locked as a user cost the directory the same two
// questions, so the time tells none from another.
func TestEverySignInRefusalCostsTheDirectoryTheSame(t *testing.T) { // N08
	g, d := newAliasRig(t, false)
	all, _ := d.Directory.(*aliases)
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	for range 10 {
		b.signIn(login, "ann", "wrong")
		b.signIn(login, "carl", "wrong")
	}
	for what, name := range map[string]string{"unknown": "ghost", "wrong": "bob", "locked name of nobody": "carl", "locked name": "ann", "locked user": alias(1)} {
		identified, asked := all.identified.Load(), len(d.asked())
		if p := b.signIn(login, name, annsPassword); p.status != http.StatusUnauthorized {
			t.Errorf("%s: %d", what, p.status)
		}
		if i, a := all.identified.Load()-identified, len(d.asked())-asked; i != 1 || a != 1 {
			t.Errorf("%s: %d names and %d passwords were asked about, want 1 and 1", what, i, a)
		}
	}
}

// Nobody is locked by being called what somebody else's ID is.
func TestUsernameIsNotMistakenForAnID(t *testing.T) {
	g, _ := newAliasRig(t, false)
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	for range 20 {
		b.signIn(login, "u1", "wrong")
	}
	if p := b.signIn(login, "ann", annsPassword); p.status != http.StatusSeeOther {
		t.Errorf("%d", p.status)
	}
}

// N08, CVE-2024-4629: a hundred guesses at one time, each by another spelling.
func TestParallelGuessesByManySpellingsAreLimited(t *testing.T) {
	const parallel = 100
	for name, late := range map[string]bool{"a directory that identifies": false, "one that tells with its answer": true} {
		t.Run("N08 "+name, func(t *testing.T) {
			m := &signInMetrics{}
			g, d := newAliasRig(t, late, func(c *authserver.Config) {
				c.Protect.HashConcurrency, c.Protect.HashQueueTimeout, c.Metrics = parallel, time.Minute, m
			})
			d.began, d.end = make(chan struct{}, parallel), make(chan struct{})
			b := g.browser()
			login := b.get(tokenIssuer + "/login")
			var all sync.WaitGroup
			for i := range parallel {
				all.Go(func() { g.browserAt(b).signIn(login, alias(i), fmt.Sprint("guess", i)) })
			}
			for range parallel {
				<-d.began
			}
			close(d.end)
			all.Wait()
			evaluated := 0
			for _, name := range d.asked() {
				if strings.HasPrefix(name, "ann") {
					evaluated++
				}
			}
			answered := 0
			for _, outcome := range m.all() {
				if outcome == "refused" {
					answered++
				}
			}
			// A directory that cannot tell before has looked at all of them; what they were
			// worth is told of ten.
			if answered != 10 || !late && evaluated != 10 {
				t.Errorf("%d evaluated, %d answered truly", evaluated, answered)
			}
		})
	}
}
