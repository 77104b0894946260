package job

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/store"
)

// QueueConfig is what a queue is made of. All but Resolver is required.
type QueueConfig struct {
	Config
	// Store keeps the jobs, and marks by which the queue finds those that are not finished.
	Store store.Backend
	// Do asks the upstream. It returns when the answer is in Task.Answer, or with the
	// reason why there is none.
	Do func(context.Context, Task) *Failure
	// Hold keeps what a running job needs until it is called again: the configuration it
	// began under may be gone before it ends.
	Hold func() (release func(), err error)
	// Fair reports whether a caller without a token may have one more of so many places, or of
	// half as many that are reserved for newcomers, where the addresses in held have one each,
	// the earliest first.
	Fair func(limit int, held []string, from string) bool
	// NewID returns a string that cannot be guessed, of at most 40 letters, digits, "-" and "_".
	NewID func() string
	// Node names this process among all that share the store.
	Node string
	Now  func() time.Time
	Log  *slog.Logger
	// Observer hears what becomes of jobs.
	Observer Observer
	// Resolver resolves the names in file addresses. Default: the system's.
	Resolver *net.Resolver
}

// Task is a job that is being done.
type Task struct {
	Job    *Job // not to be changed
	Config *Config
	Upload Upload
	Answer *Recorder
}

// Queue takes jobs of one kind, runs them and answers for them. It is safe for concurrent
// use; nothing runs before Start.
type Queue struct {
	QueueConfig
	fetcher  *fetcher      // nil: none
	progress *splice.Plan  // nil: none
	result   *splice.Plan  // the part of a line
	admit    chan struct{} // who holds it may add to the queue
	wake     chan struct{}
	backlog  atomic.Int64 // -1: not known
	// doubtful are the claims of jobs of which it is not known whether they took effect. It
	// is the loop's, and holds none of jobs without a mark.
	doubtful map[string]string

	mu      sync.Mutex
	stop    context.CancelFunc
	looping chan struct{} // closed when the loop has ended
	runs    map[string]*run
	running sync.WaitGroup
}

// NewQueue checks the configuration. It starts nothing.
func NewQueue(c QueueConfig) (*Queue, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	for name, missing := range map[string]bool{
		"Store": c.Store == nil, "Do": c.Do == nil, "Hold": c.Hold == nil, "Fair": c.Fair == nil,
		"NewID": c.NewID == nil, "Node": c.Node == "", "Now": c.Now == nil, "Log": c.Log == nil, "Observer": c.Observer == nil,
	} {
		if missing {
			return nil, fmt.Errorf("job: %s is missing", name)
		}
	}
	c.Config = c.Defaulted()
	q := &Queue{QueueConfig: c, admit: make(chan struct{}, 1), wake: make(chan struct{}, 1), runs: make(map[string]*run), doubtful: make(map[string]string)}
	q.backlog.Store(-1)
	if c.Progress != "" {
		at, err := splice.ParsePointer(c.Progress)
		if err != nil {
			return nil, err
		}
		if q.progress, err = splice.Compile(splice.Config{Capture: []splice.Pointer{at}}); err != nil {
			return nil, err
		}
	}
	at, err := splice.ParsePointer(c.Result)
	if err != nil {
		return nil, err
	}
	if q.result, err = splice.Compile(splice.Config{Root: at}); err != nil {
		return nil, err
	}
	if c.Fetch != nil {
		q.fetcher, err = newFetcher(c.Fetch, c.Resolver)
	}
	return q, err
}
