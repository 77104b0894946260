package authserver

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
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

// attempted is a user name and password, and where they come from.
type attempted struct {
	username, password string
	address            string        // without port
	client             bool          // sent by a client that authenticated itself
	known              []knownPerson // who signed in at this browser before
	vouched            *knownPerson  // the one of them with this name, if any
}

// try checks a user name and password against directory and limits, for the login page
// and the password grant alike. Errors are technical, or a refusal when too many
// sign-ins are in progress.
//
// Attempts are counted before the password is looked at, and given back when it is right
// or a fault prevented the check: of any number of parallel guesses no more than the
// limit are evaluated (CVE-2024-4629), and nobody is limited for right passwords. A name
// or user that is locked costs a hash like any other, of a name nobody has, so neither
// the time nor an unlucky hit tells a lock from a wrong password.
func (s *signIn) try(ctx context.Context, a attempted) (outcome, error) {
	c := charges{book: s.Attempts}
	from := s.addressCharges(a.address)
	if retry := c.refused(from...); retry > 0 {
		return outcome{verdict: limited, retry: retry}, nil
	}
	if a.username == "" || a.password == "" {
		if !c.all(from...) {
			return outcome{verdict: limited, retry: c.retry}, nil
		}
		return outcome{verdict: refused}, nil
	}
	switch err := s.gate.Enter(ctx, fairshare.From(a.address), a.client || a.vouched != nil, s.gate.waits()); {
	case errors.Is(err, fairshare.ErrShare):
		return outcome{verdict: limited, retry: shareAgain}, nil
	case err != nil:
		return outcome{}, errBusy
	}
	defer s.gate.Leave()
	// Here and not before the queue: right passwords that wait for their turn must not
	// use up what the address may get wrong.
	if !c.all(from...) {
		return outcome{verdict: limited, retry: c.retry}, nil
	}
	o, err := s.evaluate(ctx, &c, a)
	if err != nil || o.verdict == accepted {
		c.giveBack()
	}
	if o.verdict == refused && c.newlyRefused() {
		s.Audit.Record(ctx, s.aboutName(ctx, audit.Event{Name: audit.Lockout}, a.username, o.subject))
	}
	return o, err
}

// evaluate asks the directory, unless the name or the user it leads to is locked. What
// it takes from the book is left to try to give back.
func (s *signIn) evaluate(ctx context.Context, c *charges, a attempted) (outcome, error) {
	// A browser that goes away does not end the call: the memory of a hash in progress
	// would be free for the next one only in our books, and a few thousand dropped
	// connections would fill the machine.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), directoryPatience)
	defer cancel()
	subject, _, err := s.Directory.Identify(ctx, a.username)
	if err != nil {
		return outcome{}, err
	}
	known, err := s.knownAs(ctx, a, subject)
	if err != nil {
		return outcome{}, err
	}
	rule := s.accountRule()
	open := false
	if known != nil {
		subject = known.Subject
		open = c.knownBrowser(rule, known)
	} else {
		open = c.account(rule, a.username, subject)
	}
	if !open {
		_, _, err := s.authenticate(ctx, secret.ID(), a.password)
		return outcome{verdict: locked, subject: subject}, err
	}
	user, ok, err := s.authenticate(ctx, a.username, a.password)
	if err != nil {
		return outcome{}, err
	}
	if user.ID != "" && user.ID != subject {
		// The directory could not tell before, so the user's own count comes now. A right
		// password is refused as well when it is used up.
		subject = user.ID
		if !c.all(charge{subjectKey(subject), rule}) {
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

// accountKey and subjectKey are under what failures are counted: a name as it was typed,
// and a user of the directory, who may have many names. The kinds differ, since nothing
// keeps a user from being called what another one's ID is.
func accountKey(username string) string { return "user:" + directory.FoldUsername(username) }
func subjectKey(id string) string       { return "subject:" + id }

// EndLockout forgets on this node what was counted for a user: at browsers that signed the user
// in before, and everywhere else. Limits of addresses stay as they are, and so do those of other
// names that led to the user.
func (s *Server) EndLockout(subject, username string) {
	s.Attempts.Forget(subjectKey(subject))
	s.Attempts.Forget(accountKey(username))
	s.Attempts.ForgetSuffix("known", "|"+subject)
}

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
		e.User = printableDigest(nameDigest(keys, username))
	}
	return e
}

// failed is the event of an attempt that was not accepted.
func (s *signIn) failed(ctx context.Context, username string, o outcome, client string) audit.Event {
	return s.aboutName(ctx, audit.Event{Name: audit.SignInFailed, Client: client, Reason: string(o.verdict)}, username, o.subject)
}

// unknownClient stands in an event for a client_id that no client has. Like a name that was
// typed it may be a secret.
func (s *Server) unknownClient(ctx context.Context, id string) string {
	keys, err := s.Keys(ctx)
	if err != nil {
		return ""
	}
	return printableDigest(keys.MAC(useTypedID, []byte(id))[:12])
}

func validUsername(s string) bool {
	return len(s) <= directory.MaxUsername && !strings.ContainsFunc(s, unicode.IsControl)
}

// maxWaiting is how many sign-ins of strangers may wait for a turn; each holds its form in
// memory.
const maxWaiting = 1000

// gate lets a few passwords be hashed at a time. Those that wait get their turn in a fair
// order, see [fairshare.Queue].
type gate struct {
	*fairshare.Queue
	patience time.Duration
	came     atomic.Uint64 // so many have come
}

// Who comes in a crowd gives up one after the other, within the second half of the
// patience: five hundred pages made at the same moment hold everybody else up.
const stages = 256

func (g *gate) waits() time.Duration {
	return g.patience - g.patience/2*time.Duration(g.came.Add(1)%stages)/stages
}

func newGate(width int, patience time.Duration, now func() time.Time) *gate {
	return &gate{Queue: fairshare.NewQueue(width, maxWaiting, now), patience: patience}
}

// shareAgain is when an address whose sign-ins fill its share of the queue may come again.
const shareAgain = 2 * time.Second

// errBusy is not logged as a fault: it is what the gate is for.
var errBusy = refusal.Busy(2 * time.Second)
