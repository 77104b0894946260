package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var errStore = errors.New("the store is away")

// shelf is a store in memory. fault may make an operation fail, before it or after.
type shelf struct {
	mu      sync.Mutex
	version uint64
	jobs    map[string]Record
	marks   map[string]Mark
	queues  map[string]string
	fault   func(op string) (before, after error)
}

func newShelf() *shelf {
	return &shelf{jobs: map[string]Record{}, marks: map[string]Mark{}, queues: map[string]string{}}
}

func (s *shelf) do(op string, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var before, after error
	if s.fault != nil {
		before, after = s.fault(op)
	}
	if before != nil {
		return before
	}
	return errors.Join(f(), after)
}

func (s *shelf) Get(_ context.Context, id string) (r Record, err error) {
	return r, s.do("get", func() error {
		var ok bool
		if r, ok = s.jobs[id]; !ok || !time.Now().Before(r.Expires) {
			return ErrNotFound
		}
		return nil
	})
}

func (s *shelf) Create(_ context.Context, r Record) error {
	return s.do("create", func() error {
		if _, ok := s.jobs[r.ID]; ok {
			return errors.New("it is there")
		}
		s.version++
		r.Version = s.version
		s.jobs[r.ID] = r
		return nil
	})
}

func (s *shelf) Swap(_ context.Context, r Record) (v uint64, err error) {
	return v, s.do("swap", func() error {
		old, ok := s.jobs[r.ID]
		if !ok || !time.Now().Before(old.Expires) {
			return ErrNotFound
		}
		if old.Version != r.Version {
			return ErrConflict
		}
		s.version++
		r.Version, v = s.version, s.version
		s.jobs[r.ID] = r
		return nil
	})
}

func (s *shelf) Enter(_ context.Context, queue string, m Mark, _ time.Time) error {
	return s.do("enter", func() error {
		s.marks[m.ID], s.queues[m.ID] = m, queue
		return nil
	})
}

func (s *shelf) Leave(_ context.Context, id string) error {
	return s.do("leave", func() error {
		delete(s.marks, id)
		return nil
	})
}

func (s *shelf) List(_ context.Context, queue string, limit int) (all []Mark, err error) {
	return all, s.do("list", func() error {
		for id, m := range s.marks {
			if s.queues[id] == queue {
				all = append(all, m)
			}
		}
		slices.SortFunc(all, func(a, b Mark) int { return strings.Compare(a.ID, b.ID) })
		all = all[:min(len(all), limit)]
		return nil
	})
}

func (s *shelf) broken(fault func(op string) (before, after error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *shelf) unfinished() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.marks)
}

// job reads what is stored of a job.
func (s *shelf) job(t *testing.T, id string) *Job {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := decode(s.jobs[id].Value)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// work is an upstream.
type work struct {
	mu   sync.Mutex
	done map[string]int // how often each job was begun
	do   func(ctx context.Context, t Task) *Failure
}

func (w *work) Do(ctx context.Context, t Task) *Failure {
	w.mu.Lock()
	w.done[t.Job.ID]++
	do := w.do
	w.mu.Unlock()
	if do != nil {
		return do(ctx, t)
	}
	_, _ = t.Answer.Write([]byte(`{"ok":true}`))
	return nil
}

func (w *work) begun(id string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done[id]
}

func newWork(do func(ctx context.Context, t Task) *Failure) *work {
	return &work{done: map[string]int{}, do: do}
}

// until waits for the end of a job, or of its context.
func until(end <-chan struct{}) func(context.Context, Task) *Failure {
	return func(ctx context.Context, t Task) *Failure {
		select {
		case <-end:
			_, _ = t.Answer.Write([]byte(`"late"`))
			return nil
		case <-ctx.Done():
			return UpstreamFailed.Failure()
		}
	}
}

var made struct {
	sync.Mutex
	n int
}

// node is one of several over a store.
func node(t *testing.T, s *shelf, w *work, name string, change ...func(*QueueConfig)) *Queue {
	t.Helper()
	c := QueueConfig{
		Config: Config{Path: "slow", Upstream: "/slow"},
		Store:  s, Index: s, Do: w.Do, Hold: func() (func(), error) { return func() {}, nil },
		Fair: func(limit int, held []string, from string) bool {
			return len(held) < limit || len(held) < limit+limit/2 && !slices.Contains(held, from)
		},
		NewID: func() string {
			made.Lock()
			defer made.Unlock()
			made.n++
			return fmt.Sprintf("%06d", made.n)
		},
		Node: name, Now: time.Now, Observer: new(witness), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, f := range change {
		f(&c)
	}
	q, err := NewQueue(c)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

var owner = Owner{Client: "reader", Subject: "alice"}

func submit(t *testing.T, q *Queue) *Job {
	t.Helper()
	j, refused, err := q.Submit(t.Context(), Request{Owner: owner, Body: []byte("x")})
	if err != nil || refused != nil {
		t.Fatal(err, refused)
	}
	return j
}

func find(t *testing.T, q *Queue, id string) *Job {
	t.Helper()
	j, err := q.Find(t.Context(), owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// witness is an observer that remembers.
type witness struct {
	mu      sync.Mutex
	events  map[string][]Event // by job; "" those of wishes
	files   []Code
	running int
	most    int
}

func (w *witness) Job(_ context.Context, e Event, j *Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.events == nil {
		w.events = make(map[string][]Event)
	}
	w.events[j.ID] = append(w.events[j.ID], e)
}

func (w *witness) Running(more int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running += more
	w.most = max(w.most, w.running)
}

func (w *witness) File(_ context.Context, c Code, _ *Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files = append(w.files, c)
}

// of is what became of a job, and how many ran, at most and now.
func (w *witness) of(id string) (all []Event, most, now int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events[id]), w.most, w.running
}
