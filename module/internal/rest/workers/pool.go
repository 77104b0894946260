// Package workers divides the workers of a queue of jobs among callers.
package workers

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Mark marks a job as unfinished and leads its queue to it; the state of the job is in its own
// record. The mark's parent in the store is the queue.
type Mark struct {
	ID     string `json:"-"`
	Client string `json:"client"`
	User   string `json:"user,omitempty"` // whom the client acts for
	From   string `json:"from,omitempty"` // the address of a caller without a token
}

// Caller returns whose job it is: the mark without the job. All addresses of an IPv6 /48 are one caller: a customer who has
// a /48 would otherwise count as 65,536 callers.
func (m Mark) Caller() Mark {
	m.ID = ""
	if !m.isStranger() {
		return m
	}
	if network, err := netip.ParsePrefix(m.From); err == nil {
		m.From = netip.PrefixFrom(network.Addr(), min(network.Bits(), 48)).Masked().String()
	}
	return m
}

// isStranger reports whether the caller has no token.
func (m Mark) isStranger() bool { return m.Client == "" }

// Pool has the workers of a queue in this process. All handlers and configurations with the queue share it: otherwise each of
// a site's ports, and each reload while jobs run, would add workers.
type Pool struct {
	mu      sync.Mutex // guards the rest
	loops   []*Loop    // the one that came last is that of the newest configuration
	busy    map[string]*worker
	turns   turns
	running sync.WaitGroup
}

// worker is one that has a job.
type worker struct {
	caller Mark
	cancel context.CancelCauseFunc // nil until the job runs
}

// Loop starts jobs of a queue under one configuration.
type Loop struct {
	most int
	// Wake receives when there may be something to start.
	Wake chan struct{}
}

// NewPool returns a pool whose workers all wait.
func NewPool() *Pool {
	return &Pool{busy: make(map[string]*worker), turns: turns{last: make(map[Mark]int)}}
}

// NewLoop returns the loop of a configuration with this many workers.
func NewLoop(most int) *Loop { return &Loop{most, make(chan struct{}, 1)} }

// Join is called before a loop begins. From now on there are as many workers as in its configuration.
func (p *Pool) Join(l *Loop) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loops = append(p.loops, l)
}

// Leave is called when a loop has ended. Its jobs go on.
func (p *Pool) Leave(l *Loop) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loops = slices.DeleteFunc(p.loops, func(other *Loop) bool { return other == l })
}

// Wake wakes the loops.
func (p *Pool) Wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.loops {
		select {
		case l.Wake <- struct{}{}:
		default:
		}
	}
}

// Sort returns the unfinished jobs, which are sorted by age, in the order in which they start.
func (p *Pool) Sort(jobs []Mark) []Mark {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turns.sort(jobs, func(id string) bool { return p.busy[id] != nil })
}

// Take takes a worker for a job that is about to be claimed. It reports false if none is free, or if the job has one.
func (p *Pool) Take(job Mark) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	caller := job.Caller()
	if p.busy[job.ID] != nil || p.free(caller) <= 0 {
		return false
	}
	p.busy[job.ID] = &worker{caller: caller}
	return true
}

// GiveBack gives back the worker of a job that was not claimed.
func (p *Pool) GiveBack(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, id)
}

// Run runs a job that has a worker; cancel ends it. It calls release when the worker is free again.
func (p *Pool) Run(id string, cancel context.CancelCauseFunc, do, release func()) {
	p.mu.Lock()
	w := p.busy[id]
	w.cancel = cancel
	p.turns.started(w.caller)
	p.mu.Unlock()
	p.running.Go(func() {
		defer release()
		defer func() {
			cancel(nil)
			p.GiveBack(id)
			p.Wake()
		}()
		do()
	})
}

// Free returns how many more jobs of a caller may start.
func (p *Pool) Free(caller Mark) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.free(caller), 0)
}

// free is negative after a reload with fewer workers. A quarter of the workers is kept for other callers: otherwise one whose
// jobs take long would have everybody else wait for them. All callers without a token count as one here, since one person may
// use many addresses.
func (p *Pool) free(caller Mark) int {
	own := 0
	for _, w := range p.busy {
		if w.caller == caller || w.caller.isStranger() && caller.isStranger() {
			own++
		}
	}
	most := p.most()
	return min(most-len(p.busy), most-most/4-own)
}

func (p *Pool) most() int {
	if len(p.loops) == 0 {
		return 0
	}
	return p.loops[len(p.loops)-1].most
}

// Has reports whether a job runs in this process, or is just being claimed.
func (p *Pool) Has(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.busy[id] != nil
}

// Cancel ends a job if it runs in this process.
func (p *Pool) Cancel(id string, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.busy[id]; w != nil && w.cancel != nil {
		w.cancel(cause)
	}
}

// Drain is for the end of the process, when no loop is left: it waits for running jobs until grace is over, then ends them.
func (p *Pool) Drain(grace time.Duration, cause error) {
	done := make(chan struct{})
	go func() {
		p.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-time.After(grace):
	}
	p.mu.Lock()
	for _, w := range p.busy {
		if w.cancel != nil {
			w.cancel(cause)
		}
	}
	p.mu.Unlock()
	select {
	case <-done:
	case <-time.After(grace):
	}
}
