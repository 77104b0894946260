package login

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Times of sign-ins.
const (
	// signInTime is how long a sign-in may take, and how long a request waits for one.
	signInTime = 30 * time.Second
	// maxWaiting is how many requests wait for one at a time.
	maxWaiting = 1000
	// After a refusal the account could be locked: the next sign-in waits from refusedLeast to
	// refusedMost. An upstream that cannot be reached is asked again sooner.
	refusedLeast, refusedMost = 30 * time.Second, 15 * time.Minute
	awayLeast, awayMost       = time.Second, 30 * time.Second
	// A session that is refused although it is new is not renewed at once. One that was in use for
	// fruitlessMost before it was refused is taken to have been over.
	fruitlessLeast, fruitlessMost = time.Second, time.Minute
	// maxUntold is how many sessions may be renewed one after the other while of none is known that
	// it helped, since the clients have gone or others were faster.
	maxUntold = 5
)

var (
	// ErrBusy says that too many requests wait for a sign-in, or that one takes too long.
	ErrBusy = errors.New("the sign-in at the API takes too long, or too many requests wait for it")
	// ErrFresh says that the session was renewed a short time ago and that did not help.
	ErrFresh = errors.New("a new session at the API did not help")
)

// Keeper keeps the session that all requests share. At most one sign-in runs at a time.
type Keeper struct {
	now func() time.Time

	mu        sync.Mutex
	session   *Session
	running   *attempt
	waiting   int
	failures  int
	until     time.Time // no sign-in before
	last      error     // why
	fruitless int
	untold    int           // renewals since one helped
	renewFrom time.Time     // a session that is not over by then is not renewed before
	begun     time.Time     // of the session
	lasted    time.Duration // how long the one before it was there
}

// attempt is a sign-in on its way.
type attempt struct {
	done    chan struct{}
	renews  bool
	session *Session
	err     error
}

// NewKeeper makes one that has no session yet.
func NewKeeper(now func() time.Time) *Keeper { return &Keeper{now: now} }

// Session is the session, after a sign-in if there is none, or none but stale, which the
// upstream has refused. signIn is called in a goroutine of its own and MUST honour its context; the
// request that asks first may have gone by the time it ends.
func (k *Keeper) Session(ctx context.Context, stale *Session, signIn func(context.Context) (*Session, error)) (*Session, error) {
	a, s, err := k.join(stale, signIn)
	if a == nil {
		return s, err
	}
	defer k.leave()
	timeout := time.NewTimer(signInTime)
	defer timeout.Stop()
	select {
	case <-a.done:
		return a.session, a.err
	case <-timeout.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join finds the session, or the sign-in to wait for.
func (k *Keeper) join(stale *Session, signIn func(context.Context) (*Session, error)) (*attempt, *Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	switch {
	case k.session != nil && k.session != stale:
		return nil, k.session, nil
	case k.running != nil:
	case stale != nil && k.session == stale && now.Before(k.renewFrom):
		return nil, nil, ErrFresh
	case now.Before(k.until):
		return nil, nil, k.last
	default:
		if k.session != nil {
			k.lasted = now.Sub(k.begun)
		}
		k.session = nil
		k.running = &attempt{done: make(chan struct{}), renews: stale != nil}
		go k.run(k.running, signIn)
	}
	if k.waiting >= maxWaiting {
		return nil, nil, ErrBusy
	}
	k.waiting++
	return k.running, nil, nil
}

func (k *Keeper) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting--
}

func (k *Keeper) run(a *attempt, signIn func(context.Context) (*Session, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), signInTime)
	defer cancel()
	s, err := signIn(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	a.session, a.err = s, err
	k.running = nil
	if err == nil {
		k.session, k.failures, k.last, k.begun = s, 0, nil, k.now()
		if a.renews {
			k.untold++
		}
		if k.untold > maxUntold {
			k.waitToRenew()
		}
	} else {
		least, most := awayLeast, awayMost
		var e *Error
		if errors.As(err, &e) && e.Refused {
			least, most = refusedLeast, refusedMost
		}
		k.last, k.until = err, k.now().Add(backOff(least, most, k.failures))
		k.failures++
	}
	close(a.done)
}

// Verdict is what an answer says of the session that its request had.
type Verdict int

const (
	// Unknown: nothing. There was no answer, or one that APIs give before they look at a session.
	Unknown Verdict = iota
	// Taken: the request was carried out, or refused for something else.
	Taken
	// Refused: the session is over.
	Refused
)

// Renewed notes what became of a request for which the session was renewed. Where a sign-in ends
// the session before it, requests that were on their way are helped by every renewal: that one
// which is refused whatever the session is must not cause the next at once. Nor must one of which
// nothing is known: an API that is failing would be signed in to for each request.
func (k *Keeper) Renewed(s *Session, v Verdict) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v == Taken {
		k.untold = 0
	}
	switch {
	case v == Taken && k.lasted < fruitlessMost:
	case v == Taken:
		k.fruitless, k.renewFrom = 0, time.Time{}
	case k.session != s:
	default:
		k.waitToRenew()
		if v == Refused {
			k.fruitless++
		}
	}
}

// waitToRenew keeps the session from being renewed at once.
func (k *Keeper) waitToRenew() {
	if from := k.now().Add(backOff(fruitlessLeast, fruitlessMost, k.fruitless)); from.After(k.renewFrom) {
		k.renewFrom = from
	}
}

func backOff(least, most time.Duration, n int) time.Duration {
	for range n {
		if least *= 2; least >= most {
			return most
		}
	}
	return least
}
