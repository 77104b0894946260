package gateway

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const (
	// surveyEvery is how old the summary of the stored clients may be: a preflight names no
	// client, so their origins must be known beforehand.
	surveyEvery = 2 * time.Second
	// maxSurveyed is how many of them are read for it, in the order of their ids, of those
	// that an operator made and of those that registered themselves: so that the latter
	// crowd out none of the former. What exceeds it gets tokens, but not from scripts of
	// its own origin.
	maxSurveyed = 1000
	surveyPage  = 100
	// seenFor is how long a guard believes what it found about a stored client. One that
	// is deleted is revoked too, which reaches guards at once.
	seenFor = 3 * time.Second
	// maxSeen bounds the memory for it; only clients of valid tokens get there.
	maxSeen = 10_000
	// storeTime bounds what is asked of the store for several requests at once.
	storeTime = 2 * time.Second
)

// storedClients are the clients in the store, with what must be known about them without
// asking it for every request.
type storedClients struct {
	*clientstore.Clients
	now    func() time.Time
	asking singleflight.Group
	// patience is how long a guard believes what it found last while the store does not answer:
	// as long as it believes the revocations it knows.
	patience time.Duration

	mu        sync.RWMutex
	surveyed  time.Time
	surveying bool
	origins   []string
	until     optionalGrants
	seen      map[string]sighting
}

type sighting struct {
	at    time.Time // when the store was asked last
	there bool      // what it said last
	lost  time.Time // since when it does not answer; zero: it did
}

func newStoredClients(c clientstore.Config, patience time.Duration) (*storedClients, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	all, err := clientstore.New(c)
	if err != nil {
		return nil, err
	}
	return &storedClients{Clients: all, now: c.Now, patience: patience, seen: make(map[string]sighting)}, nil
}

// keeps reports whether the store has a client of this id, or had a moment ago, or when it
// answered last. Errors are technical. A hit allocates nothing.
func (s *storedClients) keeps(ctx context.Context, id string) (bool, error) {
	s.mu.RLock()
	last, ok := s.seen[id]
	s.mu.RUnlock()
	if ok && s.now().Sub(last.at) < seenFor {
		return last.there, nil
	}
	answer := s.asking.DoChan(id, func() (any, error) { return s.look(id) })
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case found := <-answer:
		there, _ := found.Val.(bool)
		return there, found.Err
	}
}

// look asks the store for all who wait, whoever of them goes away.
func (s *storedClients) look(id string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	at := s.now()
	_, there, err := s.Client(ctx, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return s.believe(id, at, err)
	}
	if len(s.seen) >= maxSeen {
		maps.DeleteFunc(s.seen, func(_ string, v sighting) bool { return at.Sub(v.at) >= seenFor })
	}
	if len(s.seen) >= maxSeen {
		clear(s.seen)
	}
	s.seen[id] = sighting{at: at, there: there}
	return there, nil
}

// believe answers when the store did not: a client that was there still is, for as long as
// guards go on without the store. One that is deleted meanwhile is revoked too. The caller
// holds the lock.
func (s *storedClients) believe(id string, at time.Time, err error) (bool, error) {
	last := s.seen[id]
	if last.lost.IsZero() {
		last.lost = at
	}
	if !last.there || at.Sub(last.lost) >= s.patience {
		return false, err
	}
	last.at = at
	s.seen[id] = last
	return true, nil
}

// summary gives the origins of the stored clients and the optional grants they have, read
// again when they are too old. One caller reads; the others, and all when the store is
// away, get what was known last.
func (s *storedClients) summary() ([]string, optionalGrants) {
	s.mu.Lock()
	now := s.now()
	due := !s.surveying && (s.surveyed.IsZero() || now.Sub(s.surveyed) >= surveyEvery)
	s.surveying = s.surveying || due
	origins, until := s.origins, s.until
	s.mu.Unlock()
	if !due {
		return origins, until
	}
	freshOrigins, freshUntil, err := s.survey()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.surveying, s.surveyed = false, now
	if err == nil {
		s.origins, s.until = freshOrigins, freshUntil
	}
	return s.origins, s.until
}

func (s *storedClients) survey() ([]string, optionalGrants, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	var origins []string
	until := optionalGrants{}
	type lister func(ctx context.Context, after string, limit int) ([]*oauth.Client, error)
	for _, list := range []lister{s.ListMade, s.ListRegistered} {
		after := ""
		for range maxSurveyed / surveyPage {
			page, err := list(ctx, after, surveyPage)
			if err != nil {
				return nil, nil, err
			}
			for _, c := range page {
				after = c.ID
				origins = append(origins, c.CORSOrigins()...)
				until.add(c)
			}
			if len(page) < surveyPage {
				break
			}
		}
	}
	slices.Sort(origins)
	return slices.Compact(origins), until, nil
}
