package authserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/audit"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/attempt"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/token"
)

// directoryPatience bounds a sign-in whose browser has gone.
const directoryPatience = 30 * time.Second

// verdict is what came of a password.
type verdict string

// The verdicts; the names are those of [Metrics.SignIn].
const (
	accepted verdict = "ok"
	refused  verdict = "refused"
	locked   verdict = "locked"  // too many failures for this name
	limited  verdict = "limited" // too many attempts from this address
)

// try checks a user name and password against directory and limits, for the login page
// and the password grant alike. address is where they come from, without port; retry is
// how long a limited address has to wait. Errors are technical, or a [pageError] when too
// many sign-ins are in progress.
//
// Attempts are counted before the password is looked at: of any number of parallel
// guesses no more than the limit are evaluated (CVE-2024-4629). A name that is locked
// costs a hash like any other, of a name nobody has, so neither the time nor an
// unlucky hit tells a lock from a wrong password.
func (s *signIn) try(ctx context.Context, address, username, password string) (user directory.User, v verdict, retry time.Duration, err error) {
	from := "addr:" + httpx.AddressKey(address)
	if ok, retry := s.Attempts.Take(from, attempt.Rule{Limit: s.Protect.PerAddress, Window: time.Minute}); !ok {
		return user, limited, retry, nil
	}
	if username == "" || password == "" {
		return user, refused, 0, nil
	}
	key := accountKey(username)
	open, _ := s.Attempts.Take(key, attempt.Rule{
		Limit: s.Protect.LoginFailures, Window: s.Protect.LoginWindow, Lock: s.Protect.Lockout,
	})
	if !open {
		_, _, err := s.authenticate(ctx, secret.ID(), password)
		return user, locked, 0, err
	}
	user, ok, err := s.authenticate(ctx, username, password)
	switch {
	case err != nil: // not evaluated, so not held against the account
		s.Attempts.Return(key)
		return user, "", 0, err
	case !ok || user.Locked:
		if s.Attempts.NewlyRefused(key) {
			s.Audit.Record(ctx, audit.Event{Name: audit.Lockout, User: audit.Cut(username)})
		}
		return directory.User{}, refused, 0, nil
	}
	s.Attempts.Return(key)
	return user, accepted, 0, nil
}

// authenticate waits for a turn and asks the directory. A browser that goes away does
// not end the call: the memory of a hash in progress would be free for the next one
// only in our books, and a few thousand dropped connections would fill the machine.
func (s *signIn) authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	if err := s.gate.enter(ctx); err != nil {
		return directory.User{}, false, err
	}
	defer s.gate.leave()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), directoryPatience)
	defer cancel()
	user, ok, err := s.Directory.Authenticate(ctx, username, password)
	if err == nil && ok && (user.ID == "" || strings.HasPrefix(user.ID, token.ClientSubject)) {
		err = errors.New("the directory gave a user an empty id or one that begins with the prefix of client subjects")
	}
	return user, ok, err
}

// accountKey is under what a name is counted. Directories that ignore case, width,
// spaces, accents (the usual collations of databases) or characters that nobody sees (RFC
// 4518 section 2.2) must not give a guesser one count for each spelling, so all are one here.
func accountKey(username string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || '\u0300' <= r && r <= '\u036f' {
			return -1
		}
		return r
	}, norm.NFKD.String(username))
	folded := cases.Fold().String(norm.NFKC.String(bare))
	return "user:" + strings.Join(strings.Fields(folded), " ")
}

func validUsername(s string) bool {
	return len(s) <= directory.MaxUsername && !strings.ContainsFunc(s, unicode.IsControl)
}

// maxWaiting is how many sign-ins may wait for a turn; each holds its form in memory.
const maxWaiting = 1000

// gate lets a few in at a time.
type gate struct {
	turns    chan struct{}
	patience time.Duration
	waiting  atomic.Int64
	came     atomic.Uint64 // so many have waited
}

// Who comes in a crowd gives up one after the other, within the second half of the
// patience: five hundred pages made at the same moment hold everybody else up.
const stages = 256

func (g *gate) waits() time.Duration {
	return g.patience - g.patience/2*time.Duration(g.came.Add(1)%stages)/stages
}

func newGate(width int, patience time.Duration) *gate {
	return &gate{turns: make(chan struct{}, width), patience: patience}
}

// enter waits for a turn, which must be given back with leave.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.turns <- struct{}{}:
		return nil
	default:
	}
	if g.waiting.Add(1) > maxWaiting {
		g.waiting.Add(-1)
		return errBusy
	}
	defer g.waiting.Add(-1)
	timer := time.NewTimer(g.waits())
	defer timer.Stop()
	select {
	case g.turns <- struct{}{}:
		return nil
	case <-timer.C:
		return errBusy
	case <-ctx.Done():
		return errBusy
	}
}

func (g *gate) leave() { <-g.turns }

// errBusy is not logged as a fault: it is what the gate is for.
var errBusy = &pageError{status: http.StatusServiceUnavailable, view: unavailablePage(2).view, retryAfter: 2}
