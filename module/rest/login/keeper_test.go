package login

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSignInsAreSingleFlightWithBackOff(t *testing.T) { // R12
	synctest.Test(t, func(t *testing.T) {
		k := NewKeeper(time.Now)
		calls, result := 0, error(nil)
		signIn := func(context.Context) (*Session, error) {
			calls++
			time.Sleep(time.Second)
			if result != nil {
				return nil, result
			}
			return &Session{Cookie: "a"}, nil
		}
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				if s, err := k.Session(t.Context(), nil, signIn); err != nil || s.Cookie != "a" {
					t.Error(s, err)
				}
			})
		}
		wait.Wait()
		if calls != 1 {
			t.Fatalf("%d sign-ins", calls)
		}
		s, _ := k.Session(t.Context(), nil, signIn)
		for _, c := range []struct {
			err         error
			least, most time.Duration
		}{{&Error{Refused: true, err: errors.New("no")}, refusedLeast, refusedMost}, {errors.New("away"), awayLeast, awayMost}} {
			result, calls = c.err, 0
			k.until, k.failures = time.Time{}, 0
			stale := s
			for wait := c.least; wait <= c.most; wait *= 2 {
				if _, err := k.Session(t.Context(), stale, signIn); !errors.Is(err, c.err) {
					t.Fatal(err)
				}
				before := calls
				if _, err := k.Session(t.Context(), stale, signIn); !errors.Is(err, c.err) || calls != before {
					t.Errorf("it was tried again at once: %v", err)
				}
				time.Sleep(wait)
				synctest.Wait()
			}
			result = nil
			time.Sleep(c.most)
			var err error
			if s, err = k.Session(t.Context(), nil, signIn); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestUselessRenewalIsNotRepeated(t *testing.T) { // R12
	synctest.Test(t, func(t *testing.T) {
		k, calls := NewKeeper(time.Now), 0
		signIn := func(context.Context) (*Session, error) { calls++; return new(Session), nil }
		s, _ := k.Session(t.Context(), nil, signIn)
		s, _ = k.Session(t.Context(), s, signIn)
		k.Renewed(s, Refused)
		if _, err := k.Session(t.Context(), s, signIn); !errors.Is(err, ErrFresh) || calls != 2 {
			t.Errorf("%v after %d", err, calls)
		}
		time.Sleep(fruitlessLeast)
		renewed, err := k.Session(t.Context(), s, signIn)
		if err != nil || renewed == s || calls != 3 {
			t.Errorf("%v after %d", err, calls)
		}
		k.Renewed(renewed, Taken)
		if _, err := k.Session(t.Context(), renewed, signIn); err != nil || calls != 4 {
			t.Errorf("%v after %d", err, calls)
		}
	})
}

// R12: one request that is refused whatever the session is, of a client who repeats it, and others
// that each sign-in interrupts: the back-off holds although it helps these.
func TestBackOffHoldsAlthoughRenewalHelpsOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, calls := NewKeeper(time.Now), 0
		signIn := func(context.Context) (*Session, error) { calls++; return new(Session), nil }
		s, _ := k.Session(t.Context(), nil, signIn)
		for range 600 { // in a minute
			renewed, err := k.Session(t.Context(), s, signIn)
			if err == nil {
				s = renewed
				k.Renewed(s, Refused)
				k.Renewed(s, Taken)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if calls > 8 { // 1, 2, 4 ... seconds apart
			t.Errorf("%d sign-ins", calls)
		}
	})
}

// An API that fails after a sign-in has not said that the session helps: the back-off of earlier
// refusals stays, and there is no sign-in for each request.
func TestUnknownOutcomeDoesNotResetTheBackOff(t *testing.T) { // R12
	synctest.Test(t, func(t *testing.T) {
		k, calls := NewKeeper(time.Now), 0
		signIn := func(context.Context) (*Session, error) { calls++; return new(Session), nil }
		s, _ := k.Session(t.Context(), nil, signIn)
		for range 600 { // in a minute
			if renewed, err := k.Session(t.Context(), s, signIn); err == nil {
				s = renewed
				k.Renewed(s, Unknown)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if calls < 10 || calls > 62 { // one a second
			t.Errorf("%d sign-ins for answers of which nothing is known", calls)
		}
		for range 10 {
			time.Sleep(fruitlessMost)
			if renewed, err := k.Session(t.Context(), s, signIn); err == nil {
				s = renewed
				k.Renewed(s, Refused)
			}
		}
		time.Sleep(fruitlessMost) // the session was in use for so long
		calls = 0
		for range 300 {
			if renewed, err := k.Session(t.Context(), s, signIn); err == nil {
				s = renewed
				k.Renewed(s, Unknown)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if calls != 1 {
			t.Errorf("%d sign-ins in half a minute: the back-off was forgotten", calls)
		}
		k.Renewed(new(Session), Unknown) // of a session that is none any more
	})
}

func TestSignInWaitIsLimited(t *testing.T) { // R12
	synctest.Test(t, func(t *testing.T) {
		k := NewKeeper(time.Now)
		never := func(ctx context.Context) (*Session, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return nil, ctx.Err()
		}
		var wait sync.WaitGroup
		for range maxWaiting {
			wait.Go(func() {
				if _, err := k.Session(t.Context(), nil, never); !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		begun := time.Now()
		if _, err := k.Session(t.Context(), nil, never); !errors.Is(err, ErrBusy) || time.Since(begun) > 0 {
			t.Errorf("one too many: %v after %s", err, time.Since(begun))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		k.leave()
		if _, err := k.Session(ctx, nil, never); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has gone: %v", err)
		}
		k.mu.Lock()
		k.waiting++ // leave is called for each that waits
		k.mu.Unlock()
		wait.Wait()
		time.Sleep(2 * time.Second)
		synctest.Wait()
	})
}

// R12: a client that sends what is refused whatever the session is, and goes before it hears what
// became of that, does not cause one sign-in after the other.
func TestDisconnectsDuringRenewalCauseFewSignIns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, calls := NewKeeper(time.Now), 0
		signIn := func(context.Context) (*Session, error) {
			calls++
			time.Sleep(20 * time.Millisecond)
			return new(Session), nil
		}
		s, _ := k.Session(t.Context(), nil, signIn)
		for range 600 { // in a minute
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			_, _ = k.Session(ctx, s, signIn)
			cancel()
			time.Sleep(90 * time.Millisecond)
			s, _ = k.Session(t.Context(), nil, signIn)
		}
		if calls < 10 || calls > 62+maxUntold { // one a second
			t.Errorf("%d sign-ins in a minute", calls)
		}
	})
}
