package cluster

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// The store goes away while jobs run and wait, and they are done before it is back: no job
// that was acknowledged is lost, none is begun twice, and who comes meanwhile is told. In a soak
// sentinels find another primary too.
func TestJobsSurviveAStoreOutage(t *testing.T) {
	s := redistest.Start(t, "--appendonly", "yes")
	l := startLabour(t, plan{redis: s, change: slices.Clone(impatient)})
	for _, o := range []struct {
		name       string
		begin, end func()
	}{{"it is killed and starts again", s.Kill, s.Restart}, {"it answers nothing for a while", s.Freeze, s.Thaw}} {
		t.Run(o.name, func(t *testing.T) {
			l.upstream.hold("/task")
			var jobs []string
			for _, n := range l.nodes {
				jobs = append(jobs, l.runAt(t, n, "tasks"))
			}
			for i := range 7 { // of which four have to wait
				jobs = append(jobs, l.submit(t, l.nodes[i%nodesOfCluster], machine, "/tasks"))
			}
			o.begin()
			away := time.Now()
			var slowest time.Duration
			for _, n := range l.nodes {
				for _, c := range [][]string{{http.MethodPost, "/tasks"}, {http.MethodGet, jobs[0]}, {http.MethodDelete, jobs[0]}} {
					sent := time.Now()
					a, err := l.ask(n, machine, c[0], c[1])
					if err != nil || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
						t.Errorf("%s without a store: %v %v, %v", c[0], a, a.header, err)
					}
					slowest = max(slowest, time.Since(sent))
				}
			}
			if slowest > told {
				t.Errorf("somebody was told after %v that the store is away", slowest)
			}
			l.upstream.release("/task") // the API is done meanwhile
			time.Sleep(2*time.Second - time.Since(away))
			o.end()
			back := time.Now()
			for _, n := range l.nodes {
				soon(t, "a job", func() bool {
					a, err := l.ask(n, other, http.MethodPost, "/tasks")
					return err == nil && a.status == http.StatusAccepted
				})
			}
			served := time.Since(back)
			l.allSucceed(t)
			l.once(t)
			t.Logf("told within %v; jobs are taken %v after the outage, and all have succeeded after %v", slowest.Round(time.Millisecond), served.Round(time.Millisecond), time.Since(back).Round(time.Millisecond))
		})
	}
	for range times(0, 5) { // sentinels take their time
		t.Run("its primary is killed", failover)
	}
}

// failover kills the primary while jobs come, begin and end.
func failover(t *testing.T) {
	s := redistest.StartSentinel(t)
	l := startLabour(t, plan{url: s.URL(), change: append(slices.Clone(impatient), "prefix $PREFIX", "prefix $PREFIX\n\t\t\treplicas 1")})
	stop := make(chan struct{})
	var load sync.WaitGroup
	for i := range 2 * nodesOfCluster {
		load.Go(func() {
			for ; ; time.Sleep(20 * time.Millisecond) {
				select {
				case <-stop:
					return
				default:
				}
				a, err := l.ask(l.nodes[i%nodesOfCluster], []harness.Credentials{machine, other}[i%2], http.MethodPost, "/quick")
				if err != nil || a.status != http.StatusAccepted && (a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "") {
					t.Error("a job while the primary changes:", a, err)
					return
				}
			}
		})
	}
	time.Sleep(time.Second)
	killed := s.KillPrimary()
	s.WaitPromoted(killed)
	s.Rejoin(killed)
	time.Sleep(time.Second)
	close(stop)
	load.Wait()
	l.allSucceed(t)
	l.once(t)
	l.upstream.mu.Lock()
	defer l.upstream.mu.Unlock()
	t.Logf("%d jobs were accepted, %d reached the API: each once", len(l.owner), len(l.upstream.came))
}

// allSucceed waits for every job that was accepted.
func (l *labour) allSucceed(t *testing.T) {
	t.Helper()
	i := 0
	for job, who := range l.owner {
		l.await(t, l.nodes[i%nodesOfCluster], who, job, "succeeded")
		i++
	}
}
