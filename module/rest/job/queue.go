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
	"github.com/gatehouse/gatehouse/module/internal/rest/workers"
	"github.com/gatehouse/gatehouse/module/store"
)

// QueueConfig configures a queue. All fields but Resolver are required.
type QueueConfig struct {
	Config
	// Store keeps the jobs, and marks by which the queue finds those that are not finished.
	Store store.Backend
	// Do sends the request of a job to the upstream. It returns when the answer is in
	// Task.Answer, or with the reason why there is none.
	Do func(context.Context, Task) *Failure
	// Hold keeps what a running job needs until release is called: the configuration in which
	// the job started may be gone before it ends.
	Hold func() (release func(), err error)
	// Permitted reports whether the caller who made a job, which has a Permit, may still do what it was made for.
	Permitted func(context.Context, *Job) (bool, error)
	// Fair reports whether a caller without a token may have one more of limit places, or of
	// half as many that are reserved for newcomers. The addresses in held have one place each,
	// the earliest first.
	Fair func(limit int, held []string, from string) bool
	// Room reports whether there is room in the store for a finished job of this size in bytes, of which it takes that much
	// until Keep has passed.
	Room func(ctx context.Context, j *Job, size int) bool
	// Pool has the workers of the queue, which it shares with all others of its name in this process.
	Pool *workers.Pool
	// NewID returns an unguessable string of at most 40 letters, digits, "-" and "_".
	NewID func() string
	// Node identifies this process among all that share the store.
	Node string
	Now  func() time.Time
	Log  *slog.Logger
	// Observer is notified of what happens to jobs.
	Observer Observer
	// Resolver resolves the host names in file URLs. Default: the system's.
	Resolver *net.Resolver
}

// Task is a job in progress.
type Task struct {
	Job    *Job // must not be changed
	Config *Config
	Upload Upload
	Answer *Recorder
}

// Queue accepts jobs of one kind, runs them and answers requests about them. It is safe for
// concurrent use; nothing runs before Start.
type Queue struct {
	QueueConfig
	fetcher  *fetcher      // nil: none
	progress *splice.Plan  // nil: none
	result   *splice.Plan  // the part of a line
	admit    chan struct{} // held while adding to the queue
	inPool   *workers.Loop // while it is started
	backlog  atomic.Int64  // -1: not known
	// doubtful are the claims of jobs of which it is not known whether they took effect. Only
	// the loop uses it, and it contains only jobs with a mark.
	doubtful map[string]string
	// seen is what the loop has seen of jobs that other nodes run or store, and contains only jobs
	// with a mark.
	seen map[string]sighting

	mu      sync.Mutex
	stop    context.CancelFunc
	looping chan struct{} // closed when the loop has ended
}

// NewQueue checks the configuration. It starts nothing.
func NewQueue(c QueueConfig) (*Queue, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	for name, missing := range map[string]bool{
		"Store": c.Store == nil, "Do": c.Do == nil, "Hold": c.Hold == nil, "Permitted": c.Permitted == nil, "Fair": c.Fair == nil, "Room": c.Room == nil, "Pool": c.Pool == nil,
		"NewID": c.NewID == nil, "Node": c.Node == "", "Now": c.Now == nil, "Log": c.Log == nil, "Observer": c.Observer == nil,
	} {
		if missing {
			return nil, fmt.Errorf("job: %s is missing", name)
		}
	}
	c.Config = c.Defaulted()
	q := &Queue{QueueConfig: c, admit: make(chan struct{}, 1), inPool: workers.NewLoop(c.Workers), doubtful: make(map[string]string), seen: make(map[string]sighting)}
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
