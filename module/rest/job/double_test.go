package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/workers"
	"github.com/gatehouse/gatehouse/module/store"
)

var errStore = errors.New("the store is away")

// shelf is a store in memory. fault may make an operation fail, before it or after.
type shelf struct {
	store.Backend // for the methods that jobs do not use

	mu      sync.Mutex
	version uint64
	jobs    map[string]store.Record
	marks   map[string]mark
	queues  map[string]string
	fault   func(op string) (before, after error)
	pools   map[string]*workers.Pool // by node and queue
}

func newShelf() *shelf {
	return &shelf{jobs: map[string]store.Record{}, marks: map[string]mark{}, queues: map[string]string{}, pools: map[string]*workers.Pool{}}
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

func (s *shelf) Get(_ context.Context, k store.Key) (r store.Record, err error) {
	return r, s.do("get", func() error {
		var ok bool
		if r, ok = s.jobs[k.ID]; !ok || !time.Now().Before(r.Expires) {
			return store.ErrNotFound
		}
		return nil
	})
}

func (s *shelf) Create(_ context.Context, r store.Record) (store.Record, error) {
	if r.Kind == store.KindJobMark {
		return r, s.do("enter", func() error {
			m := mark{ID: r.ID}
			s.queues[r.ID] = r.Parent
			defer func() { s.marks[r.ID] = m }()
			return json.Unmarshal(r.Value, &m)
		})
	}
	return r, s.do("create", func() error {
		if _, ok := s.jobs[r.ID]; ok {
			return store.ErrExists
		}
		s.version++
		r.Version = s.version
		s.jobs[r.ID] = r
		return nil
	})
}

func (s *shelf) Swap(_ context.Context, r store.Record) (store.Record, error) {
	err := s.do("swap", func() error {
		old, ok := s.jobs[r.ID]
		if !ok || !time.Now().Before(old.Expires) {
			return store.ErrNotFound
		}
		if old.Version != r.Version {
			return store.ErrConflict
		}
		s.version++
		r.Version = s.version
		s.jobs[r.ID] = r
		return nil
	})
	return r, err
}

func (s *shelf) Delete(_ context.Context, k store.Key) error {
	return s.do("leave", func() error {
		delete(s.marks, k.ID)
		return nil
	})
}

func (s *shelf) List(_ context.Context, _ store.Kind, queue, _ string, limit int) (all []store.Record, err error) {
	return all, s.do("list", func() error {
		for _, id := range slices.Sorted(maps.Keys(s.marks)) {
			if s.queues[id] == queue && len(all) < limit {
				value, err := json.Marshal(s.marks[id])
				if err != nil {
					return err
				}
				all = append(all, store.Record{Key: markKey(id), Value: value})
			}
		}
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

// node is one of several over a store. Those of one name are configurations of a process.
func node(t *testing.T, s *shelf, w *work, name string, change ...func(*QueueConfig)) *Queue {
	t.Helper()
	c := QueueConfig{
		Config: Config{Path: "slow", Upstream: "/slow"},
		Store:  s, Do: w.Do, Hold: func() (func(), error) { return func() {}, nil },
		Permitted: func(context.Context, *Job) (bool, error) { return true, nil },
		Fair: func(limit int, held []string, from string) bool {
			return len(held) < limit || len(held) < limit+limit/2 && !slices.Contains(held, from)
		},
		Room: func(context.Context, *Job, int) bool { return true },
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
	at := name + "/" + c.Config.Defaulted().Name
	if s.pools[at] == nil {
		s.pools[at] = workers.NewPool()
	}
	c.Pool = s.pools[at]
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
