package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// One cluster serves all of it: what is tested after a node was killed goes on while its
// lease ends.
func TestJobsOnThreeNodes(t *testing.T) {
	l := startLabour(t, plan{})
	a, b, d := l.nodes[0], l.nodes[1], l.nodes[2]

	t.Run("a job is its owner's at every node", func(t *testing.T) {
		job := l.submit(t, a, machine, "/tasks")
		for _, n := range l.nodes {
			l.await(t, n, machine, job, "succeeded")
			for _, method := range []string{http.MethodGet, http.MethodDelete} {
				theirs, err := l.ask(n, other, method, job)
				none, errNone := l.ask(n, other, method, "/jobs/"+strings.Repeat("0", 34))
				if err != nil || errNone != nil || theirs.status != http.StatusNotFound || string(theirs.body) != string(none.body) {
					t.Errorf("%s of another's job: %v, of none: %v", method, theirs, none)
				}
			}
		}
	})
	t.Run("no two nodes take up the same job", l.contend)

	l.upstream.hold("/task")
	l.upstream.hold("/again")
	lost := l.runAt(t, a, "tasks")
	again := l.runAt(t, a, "again")
	held := l.runAt(t, b, "tasks")
	waits := []string{lost, held}
	a.process.Kill()
	killed := time.Now()

	t.Run("cancelled at another node than the one that runs it", func(t *testing.T) {
		if r, err := l.ask(d, machine, http.MethodDelete, held); err != nil || r.status != http.StatusNoContent {
			t.Fatal(r, err)
		}
		begun := time.Now()
		for l.upstream.ended(held) == 0 {
			if time.Since(begun) > 5*time.Second {
				t.Fatal("the API is still asked")
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Logf("the API's request ended %v after the DELETE at another node", time.Since(begun).Round(time.Millisecond))
		for _, n := range []*node{b, d} {
			l.await(t, n, machine, held, "cancelled")
			if r, err := l.ask(n, machine, http.MethodDelete, held); err != nil || r.status != http.StatusNoContent {
				t.Error("a second time:", r, err)
			}
		}
	})
	t.Run("limits are those of all nodes", func(t *testing.T) { waits = append(waits, l.fill(t, b, d)...) })
	t.Run("what a dead node ran is not repeated unless that does no harm", func(t *testing.T) {
		for _, n := range []*node{b, d} {
			// Its node may have given its last word five seconds before.
			if s := l.read(t, n, machine, lost); s.State != "running" && time.Since(killed) < 9*time.Second {
				t.Errorf("%v after its node was killed: %+v", time.Since(killed), s)
			}
		}
		l.upstream.release("/task")
		l.upstream.awaitTimes(t, again, 2)
		taken := l.upstream.last(again).Sub(killed)
		l.upstream.release("/again")
		l.await(t, b, machine, again, "succeeded")
		if s := l.await(t, d, machine, lost, "failed"); s.Error.Code != "interrupted" {
			t.Errorf("%+v", s)
		}
		if taken < 9*time.Second {
			t.Errorf("it was taken up again after %v", taken)
		}
		t.Logf("taken up by another node %v after the kill", taken.Round(time.Millisecond))
	})
	a.run(t)
	for _, job := range waits[2:] {
		l.await(t, a, l.owner[job], job, "succeeded")
	}
	if s := l.read(t, a, machine, lost); s.Error.Code != "interrupted" {
		t.Errorf("at the node that was killed: %+v", s)
	}
	l.once(t, again)
	l.counted(t, "interrupted", 1, b, d)
	l.counted(t, "repeated", 1, b, d)
	l.counted(t, "cancelled", 1, b, d)
}

// contend has all nodes look at the same time for what to take up next.
func (l *labour) contend(t *testing.T) {
	l.upstream.hold("/quick")
	jobs := make([]string, 120)
	atOnce(len(jobs), func(i int) {
		r, err := l.ask(l.nodes[i%nodesOfCluster], machine, http.MethodPost, "/quick")
		if err != nil || r.status != http.StatusAccepted {
			t.Error(r, err)
		}
		jobs[i] = r.header.Get("Location")
	})
	for _, n := range l.nodes { // of four workers, one caller has three
		soon(t, "a node", func() bool { return n.Metric(t, `caddy_gatehouse_rest_jobs_running{queue="quick"}`) == 3 })
	}
	l.upstream.release("/quick")
	for i, job := range jobs {
		l.await(t, l.nodes[i%nodesOfCluster], machine, job, "succeeded")
		if n := l.upstream.times(job); n != 1 {
			t.Errorf("%s reached the API %d times", job, n)
		}
	}
	var by []float64
	for _, n := range l.nodes {
		by = append(by, n.Metric(t, `caddy_gatehouse_rest_jobs_total{outcome="succeeded",queue="quick"}`))
	}
	if slices.Min(by) == 0 || by[0]+by[1]+by[2] != float64(len(jobs)) {
		t.Errorf("the nodes did %v of %d jobs", by, len(jobs))
	}
	t.Logf("%d jobs, of which the nodes did %v: each once", len(jobs), by)
}

// fill takes every place that is left, and asks for more than there are. It returns the
// jobs that were accepted.
func (l *labour) fill(t *testing.T, at ...*node) (accepted []string) {
	const queue, share = 24, 12
	for _, who := range []harness.Credentials{other, machine} {
		var mu sync.Mutex
		ask := func(n *node) (answer, error) {
			r, err := l.ask(n, who, http.MethodPost, "/tasks")
			mu.Lock()
			defer mu.Unlock()
			if r.status == http.StatusAccepted {
				accepted = append(accepted, r.header.Get("Location"))
			} else if err != nil || r.status != http.StatusTooManyRequests && r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" {
				t.Error("a job for which there is no room:", r, r.header, err)
			}
			return r, err
		}
		atOnce(48, func(i int) { _, _ = ask(at[i%len(at)]) })
		// Of several that ask for the last place at the same moment all may be refused.
		for range queue {
			_, _ = ask(at[0])
		}
		for _, n := range at {
			want := http.StatusTooManyRequests
			if who == machine {
				want = http.StatusServiceUnavailable
			}
			if r, _ := ask(n); r.status != want {
				t.Errorf("%s at %s: %v, want %d", who.ID, n.ID, r, want)
			}
		}
		if who == other && len(accepted) != share {
			t.Errorf("%d jobs of a client were accepted, its share is %d", len(accepted), share)
		}
	}
	// The one of the dead node is still there.
	if len(accepted) != queue-1 {
		t.Errorf("%d jobs were accepted, %d had room", len(accepted), queue-1)
	}
	for _, n := range at {
		soon(t, "the backlog", func() bool { return n.Metric(t, `caddy_gatehouse_rest_jobs_unfinished{queue="tasks"}`) == queue })
	}
	return accepted
}

// runAt makes a job that a certain node runs.
func (l *labour) runAt(t *testing.T, at *node, path string) string {
	t.Helper()
	running := fmt.Sprintf("caddy_gatehouse_rest_jobs_running{queue=%q}", path)
	for range 10 {
		before := at.Metric(t, running)
		job := l.submit(t, at, machine, "/"+path)
		l.upstream.awaitTimes(t, job, 1)
		if at.Metric(t, running) > before {
			return job
		}
		// Another node looked at that very moment.
		if r, err := l.askInTime(at, machine, http.MethodDelete, job); err != nil || r.status != http.StatusNoContent {
			t.Fatal(r, err)
		}
		l.mu.Lock()
		delete(l.owner, job) // nobody waits for it
		l.mu.Unlock()
	}
	t.Fatal("this node runs nothing")
	return ""
}

// once fails when a job, but for those that are named, reached the API more than once, or
// was accepted and never did.
func (l *labour) once(t *testing.T, but ...string) {
	t.Helper()
	l.upstream.mu.Lock()
	defer l.upstream.mu.Unlock()
	numbers := l.upstream.numbers
	for job, n := range l.upstream.came {
		if n != 1 && !slices.ContainsFunc(but, func(name string) bool { return numbers[name] == job }) {
			t.Errorf("job %d reached the API %d times", job, n)
		}
	}
	for job := range l.owner {
		if l.upstream.came[numbers[job]] == 0 {
			t.Errorf("%s was accepted, and never reached the API", job)
		}
	}
}

// counted is what the metrics of some nodes say of what became of jobs.
func (l *labour) counted(t *testing.T, outcome string, want float64, at ...*node) {
	t.Helper()
	sum := 0.0
	for _, n := range at {
		for _, queue := range []string{"tasks", "again", "quick"} {
			sum += n.Metric(t, fmt.Sprintf("caddy_gatehouse_rest_jobs_total{outcome=%q,queue=%q}", outcome, queue))
		}
	}
	if sum < want {
		t.Errorf("%v jobs are counted as %s, want %v", sum, outcome, want)
	}
}
