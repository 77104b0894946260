package password

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const (
	// directoryPatience bounds a check whose browser has gone.
	directoryPatience = 30 * time.Second
	// maxWaiting is how many sign-ins at unknown browsers may wait for hashing; each holds its form in memory.
	maxWaiting = 1000
	// queueRetry is when a sign-in that found no place in the queue may be tried again.
	queueRetry = 2 * time.Second

	useTypedName = "typed name" // of the keys' secret
)

// Config is what a Checker needs; all of it.
type Config struct {
	*session.Sessions
	// CountSignIn counts the outcome of an attempt: a Verdict or "error".
	CountSignIn func(outcome string)
	Account     lockout.Rule // failures that lock a user, a name or a browser
	PerAddress  int          // failures a minute for one address (IPv6: one /64)
	// Concurrency is how many passwords are hashed at one time, and QueueTimeout how long an attempt waits for its turn,
	// half of it at least.
	Concurrency  int
	QueueTimeout time.Duration
	// KnownLife is how long a browser is remembered after a sign-in: no longer than the end of a subject.
	KnownLife time.Duration
}

// Checker checks passwords. It is safe for concurrent use.
type Checker struct {
	Config
	queue  *fairshare.Queue
	queued atomic.Uint64 // attempts so far
}

// New returns a Checker.
func New(c Config) *Checker {
	return &Checker{Config: c, queue: fairshare.NewQueue(c.Concurrency, maxWaiting, c.Now)}
}

// Verdict is the result of checking a password.
type Verdict string

// The verdicts; Metrics.SignIn counts them by these names.
const (
	Accepted Verdict = "ok"
	Refused  Verdict = "refused"
	Locked   Verdict = "locked"  // too many failures for this name
	Limited  Verdict = "limited" // too many attempts from this address
)

// Outcome is the result of an attempt to sign in.
type Outcome struct {
	Verdict Verdict
	User    directory.User // only when accepted
	Subject string         // the user with this name, "" if the directory does not tell
	Retry   time.Duration  // how long a limited address has to wait
}

// Attempt is a user name and password, and where they come from.
type Attempt struct {
	Username, Password string
	Address            string  // without port
	authenticatedAs    bool    // sent by a client that authenticated itself
	Known              []Known // who signed in at this browser before
	Vouched            *Known  // the one of them with this name, if any
}

// ValidUsername reports whether a user can have this name.
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

// Check checks a user name and password against directory and limits. Errors are technical, or a refusal when too many
// sign-ins are in progress.
//
// Attempts are counted before the password is checked, and given back if it is right or a fault prevented the check:
// of any number of parallel guesses no more than the limit are evaluated (CVE-2024-4629), and right passwords are never
// limited. A locked name or user costs a hash like any other, of a name that nobody has, so neither the time nor a lucky
// guess distinguishes a lock from a wrong password.
func (c *Checker) Check(ctx context.Context, a Attempt) (Outcome, error) {
	counted := charges{book: c.Attempts}
	from := c.addressCharges(a.Address)
	if retry := counted.refusedFor(from...); retry > 0 {
		return Outcome{Verdict: Limited, Retry: retry}, nil
	}
	if a.Username == "" || a.Password == "" {
		if !counted.countAll(from...) {
			return Outcome{Verdict: Limited, Retry: counted.retry}, nil
		}
		return Outcome{Verdict: Refused}, nil
	}
	switch err := c.queue.Enter(ctx, fairshare.From(a.Address), a.authenticatedAs || a.Vouched != nil, c.nextPatience()); {
	case errors.Is(err, fairshare.ErrShare):
		return Outcome{Verdict: Limited, Retry: queueRetry}, nil
	case err != nil && ctx.Err() != nil:
		return Outcome{}, ctx.Err()
	case err != nil:
		return Outcome{}, refusal.Busy(queueRetry)
	}
	defer c.queue.Leave()
	// Not before the queue: right passwords that wait for their turn must not use up the failures of their address.
	if !counted.countAll(from...) {
		return Outcome{Verdict: Limited, Retry: counted.retry}, nil
	}
	o, err := c.evaluate(ctx, &counted, a)
	if err != nil || o.Verdict == Accepted {
		counted.giveBack()
	}
	if o.Verdict == Refused && counted.newlyRefused() {
		c.recordName(ctx, audit.Event{Name: audit.Lockout}, a.Username, o.Subject)
	}
	return o, err
}

// stages is the number of steps in which timeouts are staggered within the second half of QueueTimeout, so that queued
// sign-ins do not all fail at once: rendering hundreds of pages at the same moment would delay everybody else.
const stages = 256

func (c *Checker) nextPatience() time.Duration {
	return c.QueueTimeout - c.QueueTimeout/2*time.Duration(c.queued.Add(1)%stages)/stages
}

// evaluate asks the directory, unless the name or its user is locked. Check gives back what it counts.
func (c *Checker) evaluate(ctx context.Context, counted *charges, a Attempt) (Outcome, error) {
	// The call goes on when the browser goes away: the hash in progress would still use its memory, and a few thousand
	// dropped connections would exhaust the machine's.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), directoryPatience)
	defer cancel()
	subject, certain, err := c.Directory.Identify(ctx, a.Username)
	if err != nil {
		return Outcome{}, err
	}
	known, err := c.findKnown(ctx, a, subject, certain)
	if err != nil {
		return Outcome{}, err
	}
	of := c.accountCharges(a.Username, subject)
	if known != nil {
		subject, of = known.Subject, c.knownCharges(known)
	}
	if !counted.countAll(of...) {
		// An attempt without an answer is counted only for its address, so that it does not prolong the lock.
		_, _, err := c.askInTime(ctx, Attempt{Username: secret.ID(), Password: a.Password, Address: a.Address}, subject, nil)
		return Outcome{Verdict: Locked, Subject: subject}, err
	}
	user, ok, err := c.askInTime(ctx, a, subject, of)
	if err != nil {
		return Outcome{}, err
	}
	if user.ID != "" && user.ID != subject {
		// The directory could not tell the user before, so the user's own count comes now. If it is used up, even the
		// right password is refused.
		subject = user.ID
		if !counted.countAll(charge{subjectKey(subject), c.Account}) {
			return Outcome{Verdict: Locked, Subject: subject}, nil
		}
	}
	if !ok || user.Locked {
		return Outcome{Verdict: Refused, Subject: subject}, nil
	}
	return Outcome{Verdict: Accepted, User: user, Subject: subject}, nil
}

// askInTime authenticates unless too many attempts under these keys got no answer in time, or an unclear one. Those are no
// failures, but a directory that takes longer over each wrong password would answer the right one alone: they have counts of
// their own, by the same rules. Beyond them the right password gets no answer either.
func (c *Checker) askInTime(ctx context.Context, a Attempt, subject string, of []charge) (directory.User, bool, error) {
	late := charges{book: c.Attempts}
	if !late.countAll(lateCharges(slices.Concat(c.addressCharges(a.Address), of))...) {
		return directory.User{}, false, refusal.Busy(late.retry)
	}
	user, ok, err := c.authenticate(ctx, a.Username, a.Password)
	if timeout := net.Error(nil); !errors.Is(err, directory.ErrUnclear) && (!errors.As(err, &timeout) || !timeout.Timeout()) {
		late.giveBack()
	}
	if late.newlyRefused() {
		c.recordName(context.WithoutCancel(ctx), audit.Event{Name: audit.Lockout, Reason: "unanswered"}, a.Username, subject)
	}
	return user, ok, err
}

// authenticate asks the directory and checks its answer.
func (c *Checker) authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	user, ok, err := c.Directory.Authenticate(ctx, username, password)
	if err == nil && ok && (user.ID == "" || strings.HasPrefix(user.ID, token.ClientSubject)) {
		err = errors.New("the directory gave a user an empty id or one that begins with the prefix of client subjects")
	}
	return user, ok, err
}

// CheckPassword implements [grant.Passwords] like the login page: with the same counts of failures and the same queue
// for hashing. There is no known browser here, so a lock of the user applies.
func (c *Checker) CheckPassword(ctx context.Context, r grant.Request, username, password string) (directory.User, bool, error) {
	if err := CheckSize(username, password); err != nil {
		return directory.User{}, false, err
	}
	o, err := c.Check(ctx, Attempt{Username: username, Password: password, Address: r.Address, authenticatedAs: !r.Client.Public})
	if err != nil {
		c.CountFault(ctx, err)
		return directory.User{}, false, refusal.OrUnavailable(err)
	}
	c.CountSignIn(string(o.Verdict))
	if o.Verdict == Accepted {
		return o.User, true, nil
	}
	c.Log.Info("sign-in refused", slog.String("outcome", string(o.Verdict)), slog.String("address", r.Address), slog.String("grant", string(oauth.Password)))
	c.RecordFailure(ctx, username, o, r.Client.ID)
	if o.Verdict == Limited {
		return directory.User{}, false, oauth.TooMany("too many sign-in attempts from this address, try again later", o.Retry)
	}
	return directory.User{}, false, nil
}

// CountFault counts an attempt that failed for a technical reason, unless its browser or client has gone.
func (c *Checker) CountFault(ctx context.Context, err error) {
	if !httpx.IsGone(ctx, err) {
		c.CountSignIn("error")
	}
}

// RecordFailure records an attempt that was not accepted; client is the one it was made for, "" for none.
func (c *Checker) RecordFailure(ctx context.Context, username string, o Outcome, client string) {
	c.recordName(ctx, audit.Event{Name: audit.SignInFailed, Client: client, Reason: string(o.Verdict)}, username, o.Subject)
}

// recordName records an event with the user, or, if the directory does not tell, with a keyed digest of the typed name,
// which links the events of one name. The name itself is never recorded, because users type their password into that
// field.
func (c *Checker) recordName(ctx context.Context, e audit.Event, username, subject string) {
	e.Subject = subject
	if subject == "" && username != "" {
		if keys, err := c.Keys(ctx); err == nil {
			e.User = Pseudonym(nameDigest(keys, username))
		}
	}
	c.Audit.Record(ctx, e)
}

// nameDigest stands for a typed name. It is keyed, so that nobody can find the name by trying.
func nameDigest(keys *secret.Keys, username string) []byte {
	return keys.MAC(useTypedName, []byte(directory.FoldUsername(username)))[:12]
}

// Pseudonym formats a keyed digest for audit events.
func Pseudonym(digest []byte) string {
	return "hmac:" + base64.RawURLEncoding.EncodeToString(digest)
}
