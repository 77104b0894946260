package password

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// directoryPatience bounds a check whose browser has gone.
const directoryPatience = 30 * time.Second

// useTypedName is the use of the keys that typed names are digested under.
const useTypedName = "typed name"

// Config is what a Checker needs; all of it.
type Config struct {
	Directory directory.Directory
	Store     store.Backend
	Keys      func(context.Context) (*secret.Keys, error)
	Attempts  *lockout.Book
	Audit     audit.Sink
	Log       *slog.Logger
	Now       func() time.Time
	// SignIn counts what came of an attempt: a Verdict or "error".
	SignIn func(outcome string)

	Account    lockout.Rule // failures that lock a user, a name or a browser
	PerAddress int          // failures a minute for one address (IPv6: one /64)
	// Concurrency is how many passwords are hashed at one time, and QueueTimeout how long an
	// attempt waits for its turn, half of it at least.
	Concurrency  int
	QueueTimeout time.Duration
}

// Checker checks passwords. It is safe for concurrent use.
type Checker struct {
	Config
	queue *queue
}

// New returns a Checker.
func New(c Config) *Checker {
	return &Checker{c, newQueue(c.Concurrency, c.QueueTimeout, c.Now)}
}

// Verdict is what came of a password.
type Verdict string

// The verdicts; Metrics.SignIn counts them by these names.
const (
	Accepted Verdict = "ok"
	Refused  Verdict = "refused"
	Locked   Verdict = "locked"  // too many failures for this name
	Limited  Verdict = "limited" // too many attempts from this address
)

// Outcome is what came of an attempt to sign in.
type Outcome struct {
	Verdict Verdict
	User    directory.User // only when accepted
	Subject string         // whom the name led to, "" if the directory does not tell
	Retry   time.Duration  // how long a limited address has to wait
}

// Attempt is a user name and password, and where they come from.
type Attempt struct {
	Username, Password string
	Address            string  // without port
	AuthenticatedAs    bool    // sent by a client that authenticated itself
	Known              []Known // who signed in at this browser before
	Vouched            *Known  // the one of them with this name, if any
}

// ValidUsername reports whether a user can be called so.
func ValidUsername(s string) bool {
	return len(s) <= directory.MaxUsername && !strings.ContainsFunc(s, unicode.IsControl)
}

// CheckSize refuses names and passwords that no user has, before they cost a hash.
func CheckSize(username, password string) error {
	if len(password) > directory.MaxPassword || !ValidUsername(username) {
		return oauth.E(oauth.InvalidRequest, "the user name or the password is too long")
	}
	return nil
}

// Check checks a user name and password against directory and limits. Errors are technical, or
// a refusal when too many sign-ins are in progress.
//
// Attempts are counted before the password is looked at, and given back when it is right or a
// fault prevented the check: of any number of parallel guesses no more than the limit are
// evaluated (CVE-2024-4629), and nobody is limited for right passwords. A name or user that is
// locked costs a hash like any other, of a name nobody has, so neither the time nor a lucky
// guess tells a lock from a wrong password.
func (c *Checker) Check(ctx context.Context, a Attempt) (Outcome, error) {
	counted := charges{book: c.Attempts}
	from := c.addressCharges(a.Address)
	if retry := counted.refused(from...); retry > 0 {
		return Outcome{Verdict: Limited, Retry: retry}, nil
	}
	if a.Username == "" || a.Password == "" {
		if !counted.all(from...) {
			return Outcome{Verdict: Limited, Retry: counted.retry}, nil
		}
		return Outcome{Verdict: Refused}, nil
	}
	switch err := c.queue.Enter(ctx, fairshare.From(a.Address), a.AuthenticatedAs || a.Vouched != nil, c.queue.nextPatience()); {
	case errors.Is(err, fairshare.ErrShare):
		return Outcome{Verdict: Limited, Retry: shareRetry}, nil
	case err != nil:
		return Outcome{}, refusal.Busy(busyRetry)
	}
	defer c.queue.Leave()
	// Here and not before the queue: right passwords that wait for their turn must not use up
	// what the address may get wrong.
	if !counted.all(from...) {
		return Outcome{Verdict: Limited, Retry: counted.retry}, nil
	}
	o, err := c.evaluate(ctx, &counted, a)
	if err != nil || o.Verdict == Accepted {
		counted.giveBack()
	}
	if o.Verdict == Refused && counted.newlyRefused() {
		c.Audit.Record(ctx, c.aboutName(ctx, audit.Event{Name: audit.Lockout}, a.Username, o.Subject))
	}
	return o, err
}

// evaluate asks the directory, unless the name or the user it leads to is locked. What it takes
// from the book is left to Check to give back.
func (c *Checker) evaluate(ctx context.Context, counted *charges, a Attempt) (Outcome, error) {
	// A browser that goes away does not end the call: the memory of a hash in progress would
	// only be free in our accounts, and a few thousand dropped connections would fill the
	// machine.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), directoryPatience)
	defer cancel()
	subject, _, err := c.Directory.Identify(ctx, a.Username)
	if err != nil {
		return Outcome{}, err
	}
	known, err := c.knownAs(ctx, a, subject)
	if err != nil {
		return Outcome{}, err
	}
	open := false
	if known != nil {
		subject = known.Subject
		open = counted.knownBrowser(c.Account, known)
	} else {
		open = counted.account(c.Account, a.Username, subject)
	}
	if !open {
		_, _, err := c.authenticate(ctx, secret.ID(), a.Password)
		return Outcome{Verdict: Locked, Subject: subject}, err
	}
	user, ok, err := c.authenticate(ctx, a.Username, a.Password)
	if err != nil {
		return Outcome{}, err
	}
	if user.ID != "" && user.ID != subject {
		// The directory could not tell before, so the user's own count comes now. A right
		// password is refused as well when it is used up.
		subject = user.ID
		if !counted.all(charge{subjectKey(subject), c.Account}) {
			return Outcome{Verdict: Locked, Subject: subject}, nil
		}
	}
	if !ok || user.Locked {
		return Outcome{Verdict: Refused, Subject: subject}, nil
	}
	return Outcome{Verdict: Accepted, User: user, Subject: subject}, nil
}

// authenticate asks the directory and checks what it answers.
func (c *Checker) authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	user, ok, err := c.Directory.Authenticate(ctx, username, password)
	if err == nil && ok && (user.ID == "" || strings.HasPrefix(user.ID, token.ClientSubject)) {
		err = errors.New("the directory gave a user an empty id or one that begins with the prefix of client subjects")
	}
	return user, ok, err
}

// EndLockout forgets on this node what was counted for a user: at browsers that signed the user
// in before, and everywhere else. Limits of addresses stay as they are, and so do those of other
// names that led to the user.
func (c *Checker) EndLockout(subject, username string) {
	c.Attempts.Forget(subjectKey(subject))
	c.Attempts.Forget(accountKey(username))
	c.Attempts.ForgetSuffix("known", "|"+subject)
}
