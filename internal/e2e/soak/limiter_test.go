package soak

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// machine is a token without a user.
func (s *site) machine(t *testing.T) string {
	t.Helper()
	p := s.Token(t, harness.Credentials{ID: "machine", Secret: "machine-secret-0123456789-0123456789-012345"},
		url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}})
	token, _ := p.JSON(t)["access_token"].(string)
	if p.Status != http.StatusOK || token == "" {
		t.Fatal("client_credentials:", p.Status, p.Body)
	}
	return token
}

// L01, E20.
func TestOfAFloodExactlyTheLimitPasses(t *testing.T) {
	s := newSite(t)
	window := time.Duration(times(3, 10)) * time.Second
	s.Run(t, s.config("$LIMIT", "client 100 "+window.String()))
	access := s.machine(t)
	const flood, limit = 1000, 100
	answers, errs, received := make([]answer, flood), make([]error, flood), make([]time.Time, flood)
	atOnce(flood, func(i int) {
		answers[i], errs[i] = s.read("/read", access)
		received[i] = time.Now()
	})
	passed := 0
	again := time.Now().Add(time.Hour) // when the first of the refused may come again
	for i, a := range answers {
		switch {
		case errs[i] != nil:
			t.Fatal(errs[i])
		case a.status == http.StatusOK:
			passed++
		case a.status != http.StatusTooManyRequests:
			t.Fatal(a)
		default:
			n, err := strconv.Atoi(a.header.Get("Retry-After"))
			if err != nil || n < 1 || n > int(window/time.Second)+1 {
				t.Fatalf("Retry-After %q of a window of %v", a.header.Get("Retry-After"), window)
			}
			if at := received[i].Add(time.Duration(n) * time.Second); at.Before(again) {
				again = at
			}
		}
	}
	if passed != limit {
		t.Fatalf("%d of %d passed", passed, flood)
	}
	time.Sleep(time.Until(again))
	if a, err := s.read("/read", access); err != nil || a.status != http.StatusOK {
		t.Errorf("Retry-After was waited out: %v, %v", a, err)
	}
}

// L03: in no window whatever more than the limit, and no less than it can be.
func TestNoWindowHoldsMoreThanTheLimit(t *testing.T) {
	s := newSite(t)
	const limit, window = 50, 2 * time.Second
	s.Run(t, s.config("$LIMIT", "client 50 2s"))
	access := s.machine(t)
	type pass struct{ sent, received time.Time }
	var mu sync.Mutex
	var passes []pass
	length := time.Duration(times(7, 30)) * time.Second
	begun := time.Now()
	atOnce(4, func(int) {
		for time.Since(begun) < length {
			sent := time.Now()
			a, err := s.read("/read", access)
			if err != nil || a.status != http.StatusOK && a.status != http.StatusTooManyRequests {
				t.Error(a, err)
				return
			}
			if a.status == http.StatusOK {
				mu.Lock()
				passes = append(passes, pass{sent, time.Now()})
				mu.Unlock()
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	// A pass was admitted between sent and received: those that lie within a window as a
	// whole are certainly in it.
	for _, first := range passes {
		n := 0
		for _, p := range passes {
			if !p.sent.Before(first.sent) && p.received.Before(first.sent.Add(window)) {
				n++
			}
		}
		if n > limit {
			t.Fatalf("%d passes within %v", n, window)
		}
	}
	// Under overload each window and one slot more is used up.
	windows := int(length / (window + window/60 + 100*time.Millisecond))
	if len(passes) < windows*limit {
		t.Errorf("%d passes in %v, at least %d were possible", len(passes), length, windows*limit)
	}
	t.Logf("%d passes in %v at %d for each %v", len(passes), length, limit, window)
}

// L04.
func TestASteadyRateGetsItsShare(t *testing.T) {
	s := newSite(t)
	window := time.Duration(times(1, 10)) * time.Second
	const windows, rate = 6, 50
	limit := int(window/time.Second) * rate / 5
	s.Run(t, s.config("$LIMIT", "client "+strconv.Itoa(limit)+" "+window.String()))
	access := s.machine(t)
	passed, sent := 0, 0
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	for begun := time.Now(); time.Since(begun) < windows*window; sent++ {
		<-tick.C
		a, err := s.read("/read", access)
		if err != nil {
			t.Fatal(err)
		}
		if a.status == http.StatusOK {
			passed++
		}
	}
	if want := windows * limit; passed < want*99/100 || passed > want*101/100 {
		t.Errorf("%d passed, expected %d", passed, want)
	}
	t.Logf("%d of %d passed at %d/s against %d for each %v", passed, sent, rate, limit, window)
}
