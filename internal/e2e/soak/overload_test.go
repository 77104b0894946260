package soak

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Thousands of connections at /token, far more than can be answered in time: as much is
// answered as ever, those that are answered do not wait, the others are refused at once,
// and guards go on with the tokens they know (N10).
//
// Machines drift, so there are several rounds: in each the overload is compared with the best
// and with a quiet server a few seconds before, and the medians of the rounds count.
func TestOverloadIsRefused(t *testing.T) { // N10
	s := newSite(t)
	host, api := strings.TrimPrefix(s.ID, "http://"), strings.TrimPrefix(s.API, "http://")
	local := func(address string) string { return strings.Replace(address, "localhost", "127.0.0.1", 1) }
	o := overload{
		token: throng{
			Address: local(host), Warm: time.Duration(times(500, 1000)) * time.Millisecond, Length: time.Duration(times(1, 3)) * time.Second,
			Request: rawRequest("POST", "/token", host, "grant_type=client_credentials&scope=read",
				"Authorization: Basic bWFjaGluZTptYWNoaW5lLXNlY3JldC0wMTIzNDU2Nzg5LTAxMjM0NTY3ODktMDEyMzQ1"),
		},
		program: s.Run(t, s.config()),
	}
	o.single = arrivals{Address: o.token.Address, Request: o.token.Request, Rate: 200, MayRefuse: true}
	access := s.grant(t, s.signIn(t)).access
	o.guarded = arrivals{Address: local(api), Rate: 100, Request: rawRequest("GET", "/read/1", api, "", "Authorization: Bearer "+access)}

	sizes := []int{16, 32, 64, 128, 256}[:times(1, 5)]
	best := o.best(t, sizes)
	throughput, delay := map[bool][]float64{}, map[bool][]float64{} // as ratios, by patience
	for range times(1, 5) {
		rate := best.run(t).rate()
		quiet := o.quiet(t, rate/4)
		t.Logf("%4d connections: %6.0f/s admitted; at a quarter of that a single client's p99 is %v", best.Connections, rate, quiet)
		for _, patient := range []bool{true, false} {
			admitted, late := o.run(t, patient)
			throughput[patient] = append(throughput[patient], admitted/rate)
			delay[patient] = append(delay[patient], float64(late)/float64(quiet))
			// The short form shares its processors with other tests and tells little about time.
			if !inSoak() && late > time.Second {
				t.Errorf("answered requests wait for %v", late)
			}
		}
	}
	for _, patient := range []bool{true, false} {
		answered, waited := median(throughput[patient]), median(delay[patient])
		t.Logf("clients that wait after a refusal: %v: %.0f %% of the best are answered, with %.1f x the p99 of a quiet server", patient, 100*answered, waited)
		if inSoak() && (answered < 0.8 || waited > 4) {
			t.Error("expected at least 80 %, and at most 4 x")
		}
	}
}

// overload is what asks a server too much.
type overload struct {
	token   throng
	program *harness.Process
	// How long an answer takes is asked by a client of its own, whose delays are the server's:
	// a throng waits for the processors of this machine itself.
	single  arrivals
	guarded arrivals // fails unless every answer is a 200
}

// best finds the number of connections with which most is answered.
func (o *overload) best(t *testing.T, sizes []int) throng {
	t.Helper()
	best, most := o.token, 0.0
	for _, n := range sizes {
		at := o.token
		at.Connections = n
		r := at.run(t)
		t.Logf("%4d connections: %v", n, r)
		if r.rate() > most {
			best, most = at, r.rate()
		}
	}
	return best
}

// quiet is the p99 of a single client beside few others.
func (o *overload) quiet(t *testing.T, rate float64) time.Duration {
	t.Helper()
	few := o.token
	few.Connections, few.Rate = 16, rate
	_, single := o.ask(t, few)
	return answersWithin(single, 99)
}

// run is how many a second are admitted of a throng, and the p99 of a single client beside it.
func (o *overload) run(t *testing.T, patient bool) (rate float64, late time.Duration) {
	t.Helper()
	all := o.token
	all.Connections, all.Patient = times(400, 2000), patient
	all.Warm, all.Length = 3*time.Second, time.Duration(times(2, 5))*time.Second
	memory := residentMemory(t, o.program.PID())
	o.guarded.begin(t)
	r, single := o.ask(t, all)
	guarded := o.guarded.end(t)
	t.Logf("%4d connections that wait after a refusal: %v: %v", all.Connections, patient, r)
	t.Logf("  meanwhile %d requests with a known token, none refused, p99 %v; resident %d MiB before, %d MiB after",
		len(guarded), answersWithin(guarded, 99), memory>>20, residentMemory(t, o.program.PID())>>20)
	t.Logf("  %d answers to a single client, p50 %v, p99 %v", len(single), answersWithin(single, 50), answersWithin(single, 99))
	if len(r.Refused) == 0 || len(r.Admitted) == 0 {
		t.Fatal("not both admitted and refused")
	}
	return r.rate(), answersWithin(single, 99)
}

// ask sends a throng, and the single client as long as what the throng sees is measured.
func (o *overload) ask(t *testing.T, all throng) (throngResult, []time.Duration) {
	t.Helper()
	end := all.start(t)
	time.Sleep(all.Warm)
	o.single.begin(t)
	if inSoak() {
		o.single.comeFirst(t)
	}
	return end(), o.single.end(t)
}
