package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// The most that is kept: everything is in memory, and anyone with a token may add.
const (
	maxArticles = 10_000
	maxSubject  = 200
	maxBody     = 64 << 10
	maxTags     = 200
)

// article has the old names on the wire.
type article struct {
	ID      int    `json:"aid"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
	Tags    string `json:"tags"` // separated by commas
	State   int    `json:"state"`
	Author  string `json:"author"`
	Created int64  `json:"ctime"` // Unix seconds
}

type shelf struct {
	now func() time.Time

	mu   sync.RWMutex
	byID map[int]article
	next int
}

func newShelf(n int, now func() time.Time) *shelf {
	first := time.Date(2024, time.January, 1, 8, 0, 0, 0, time.UTC)
	subjects := []string{"Notes on", "The history of", "A beginner's guide to", "What we learnt from", "Ten questions about", "In praise of"}
	things := []string{"railway bridges", "the town library", "winter gardens", "old maps", "tide tables", "market days", "paper mills"}
	tags := []string{"history,town", "nature", "travel,maps", "", "science,sea,weather"}
	s := &shelf{now: now, byID: map[int]article{}, next: 1001}
	for i := range n {
		a := article{
			Subject: fmt.Sprintf("%s %s, part %d", subjects[i%len(subjects)], things[i%len(things)], i/len(things)+1),
			Tags:    tags[i%len(tags)],
			State:   1,
			Author:  fmt.Sprintf("u-%d", 1001+i%3),
			Created: first.Add(time.Duration(i) * 67 * time.Hour).Unix(),
		}
		a.Body = "Everything there is to say: " + strings.ToLower(a.Subject) + "."
		if i%5 == 4 {
			a.State = 0
		}
		a.ID = s.next
		s.byID[a.ID] = a
		s.next++
	}
	return s
}

// query is a list request. A nil state means both.
type query struct {
	state        *int
	order        string // ctime, subject or aid
	descending   bool
	start, count int
}

func (s *shelf) list(q query) (page []article, total int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []article
	for _, a := range s.byID {
		if q.state == nil || a.State == *q.state {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b article) int {
		c := 0
		switch q.order {
		case "ctime":
			c = cmp.Compare(a.Created, b.Created)
		case "subject":
			c = strings.Compare(a.Subject, b.Subject)
		}
		if c = cmp.Or(c, cmp.Compare(a.ID, b.ID)); q.descending {
			return -c
		}
		return c
	})
	from := min(q.start, len(all))
	return all[from : from+min(q.count, len(all)-from)], len(all)
}

func (s *shelf) get(id int) (article, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, ok := s.byID[id]
	return a, ok
}

// add returns false when the shelf is full.
func (s *shelf) add(a article) (article, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= maxArticles {
		return article{}, false
	}
	a.ID, a.Created = s.next, s.now().Unix()
	s.byID[a.ID] = a
	s.next++
	return a, true
}

func (s *shelf) edit(id int, change func(*article)) (article, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.byID[id]
	if ok {
		change(&a)
		s.byID[id] = a
	}
	return a, ok
}

func (s *shelf) remove(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.byID[id]
	delete(s.byID, id)
	return ok
}
