package authserver

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

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

// outcome is what came of an attempt to sign in.
type outcome struct {
	verdict verdict
	user    directory.User // only when accepted
	subject string         // whom the name led to, "" if the directory does not tell
	retry   time.Duration  // how long a limited address has to wait
}

// try checks a user name and password against directory and limits, for the login page
// and the password grant alike. address is where they come from, without port. Errors are
// technical, or a [pageError] when too many sign-ins are in progress.
//
// Attempts are counted before the password is looked at, and given back when it is right
// or a fault prevented the check: of any number of parallel guesses no more than the
// limit are evaluated (CVE-2024-4629), and nobody is limited for right passwords. A name
// or user that is locked costs a hash like any other, of a name nobody has, so neither
// the time nor an unlucky hit tells a lock from a wrong password.
func (s *signIn) try(ctx context.Context, address, username, password string) (outcome, error) {
	c := charges{book: s.Attempts}
	from := "addr:" + httpx.AddressKey(address)
	perAddress := attempt.Rule{Limit: s.Protect.PerAddress, Window: time.Minute}
	if refused, retry := s.Attempts.Refused(from, perAddress); refused {
		return outcome{verdict: limited, retry: retry}, nil
	}
	if username == "" || password == "" {
		if ok, retry := c.take(from, perAddress); !ok {
			return outcome{verdict: limited, retry: retry}, nil
		}
		return outcome{verdict: refused}, nil
	}
	if err := s.gate.enter(ctx); err != nil {
		return outcome{}, err
	}
	defer s.gate.leave()
	// Here and not before the queue: right passwords that wait for their turn must not
	// use up what the address may get wrong.
	if ok, retry := c.take(from, perAddress); !ok {
		return outcome{verdict: limited, retry: retry}, nil
	}
	o, err := s.evaluate(ctx, &c, username, password)
	if err != nil || o.verdict == accepted {
		c.giveBack()
	}
	if o.verdict == refused && c.newlyRefused() {
		s.Audit.Record(ctx, s.aboutName(ctx, audit.Event{Name: audit.Lockout}, username, o.subject))
	}
	return o, err
}

// evaluate asks the directory, unless the name or the user it leads to is locked. What
// it takes from the book is left to try to give back.
func (s *signIn) evaluate(ctx context.Context, c *charges, username, password string) (outcome, error) {
	// A browser that goes away does not end the call: the memory of a hash in progress
	// would be free for the next one only in our books, and a few thousand dropped
	// connections would fill the machine.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), directoryPatience)
	defer cancel()
	subject, known, err := s.Directory.Identify(ctx, username)
	if err != nil {
		return outcome{}, err
	}
	if !c.account(s.accountRule(), username, subject) {
		_, _, err := s.authenticate(ctx, secret.ID(), password)
		return outcome{verdict: locked, subject: subject}, err
	}
	user, ok, err := s.authenticate(ctx, username, password)
	if err != nil {
		return outcome{}, err
	}
	if user.ID != "" && (!known || user.ID != subject) {
		// The directory could not tell before, so the user's own count comes now. A right
		// password is refused as well when it is used up.
		subject = user.ID
		if open, _ := c.take(subjectKey(subject), s.accountRule()); !open {
			return outcome{verdict: locked, subject: subject}, nil
		}
	}
	if !ok || user.Locked {
		return outcome{verdict: refused, subject: subject}, nil
	}
	return outcome{verdict: accepted, user: user, subject: subject}, nil
}

// authenticate asks the directory and checks what it answers.
func (s *signIn) authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	user, ok, err := s.Directory.Authenticate(ctx, username, password)
	if err == nil && ok && (user.ID == "" || strings.HasPrefix(user.ID, token.ClientSubject)) {
		err = errors.New("the directory gave a user an empty id or one that begins with the prefix of client subjects")
	}
	return user, ok, err
}

func (s *signIn) accountRule() attempt.Rule {
	return attempt.Rule{Limit: s.Protect.LoginFailures, Window: s.Protect.LoginWindow, Lock: s.Protect.Lockout}
}

// charges are the keys of one attempt that were counted.
type charges struct {
	book *attempt.Book
	keys []string
}

// take counts the attempt under one more key, if that is not refused.
func (c *charges) take(key string, r attempt.Rule) (ok bool, retry time.Duration) {
	if ok, retry = c.book.Take(key, r); ok {
		c.keys = append(c.keys, key)
	}
	return ok, retry
}

// account counts the attempt for the name as it was typed and for the user it leads to ("":
// unknown), or for neither when one of them is locked.
func (c *charges) account(r attempt.Rule, username, subject string) (ok bool) {
	name := accountKey(username)
	if ok, _ = c.book.Take(name, r); !ok {
		return false
	}
	if subject != "" {
		if ok, _ = c.book.Take(subjectKey(subject), r); !ok {
			c.book.Return(name)
			return false
		}
		c.keys = append(c.keys, subjectKey(subject))
	}
	c.keys = append(c.keys, name)
	return true
}

// giveBack takes the attempt from all counts again.
func (c *charges) giveBack() {
	for _, key := range c.keys {
		c.book.Return(key)
	}
	c.keys = nil
}

// newlyRefused reports whether this attempt locked a name or a user.
func (c *charges) newlyRefused() (yes bool) {
	for _, key := range c.keys {
		if !strings.HasPrefix(key, "addr:") && c.book.NewlyRefused(key) {
			yes = true
		}
	}
	return yes
}

// accountKey and subjectKey are under what failures are counted: a name as it was typed,
// and a user of the directory, who may have many names. The kinds differ, since nothing
// keeps a user from being called what another one's ID is.
func accountKey(username string) string { return "user:" + directory.FoldUsername(username) }
func subjectKey(id string) string       { return "subject:" + id }

// aboutName says in an event whose name was typed: the user, if the directory told, else a
// keyed digest by which events of one name can be put together. The name itself is not
// recorded, because people type their password into that field.
func (s *signIn) aboutName(ctx context.Context, e audit.Event, username, subject string) audit.Event {
	if subject != "" {
		e.Subject = subject
		return e
	}
	if username == "" {
		return e
	}
	if keys, err := s.Keys(ctx); err == nil {
		mac := keys.MAC(useTypedName, []byte(directory.FoldUsername(username)))
		e.User = "hmac:" + base64.RawURLEncoding.EncodeToString(mac[:12])
	}
	return e
}

// failed is the event of an attempt that was not accepted.
func (s *signIn) failed(ctx context.Context, username string, o outcome, client string) audit.Event {
	return s.aboutName(ctx, audit.Event{Name: audit.SignInFailed, Client: client, Reason: string(o.verdict)}, username, o.subject)
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
