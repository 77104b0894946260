package batch

import (
	"context"
	"sync"
	"time"
)

// parallel is how many changes of a batch are on their way at a time: a batch must not
// take an upstream's whole capacity.
const parallel = 4

// Result is what came of a group.
type Result struct {
	// Status is 0 for what was not tried.
	Status int
	// Body is the resource, or an error in our form; empty when the answer had none, or
	// one that was too large to be kept.
	Body []byte
}

// Runner runs groups.
type Runner struct {
	// Do makes one change. It MUST return within a bounded time after its context has
	// ended, and may be called several times at once.
	Do func(ctx context.Context, g Group) Result
	// Begin is how long after the start changes are begun: an answer that comes later than
	// clients wait tells nobody what was done. What was begun is finished.
	Begin time.Duration
	// Grace is how long what was begun may still take once the client has gone.
	Grace time.Duration
}

// Run runs groups until all are done, or client ends and what was begun is done.
func (r Runner) Run(client context.Context, groups []Group) []Result {
	results := make([]Result, len(groups))
	begin, stop := context.WithTimeout(client, r.Begin)
	defer stop()
	work, cancel := context.WithCancel(context.WithoutCancel(client))
	defer cancel()
	defer context.AfterFunc(client, func() {
		t := time.AfterFunc(r.Grace, cancel)
		context.AfterFunc(work, func() { t.Stop() })
	})()
	var mu sync.Mutex
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(groups) || begin.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var workers sync.WaitGroup
	for range min(parallel, len(groups)) {
		workers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				results[i] = r.one(work, groups[i])
			}
		})
	}
	workers.Wait()
	return results
}

// one keeps a panic to the group it belongs to: nobody recovers for a goroutine.
func (r Runner) one(ctx context.Context, g Group) (result Result) {
	defer func() {
		if recover() != nil {
			result = Result{Status: 500}
		}
	}()
	return r.Do(ctx, g)
}
