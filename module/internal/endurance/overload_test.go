package endurance

import (
	"strings"
	"testing"
	"time"
)

// Thousands of connections at /token, far more than can be answered in time: as much is
// answered as ever, those that are answered do not wait, the others are refused at once,
// and guards go on with the tokens they know (N10).
func TestOverloadIsRefused(t *testing.T) { // N10
	s := newSite(t)
	p := s.Run(t, s.config())
	host := strings.TrimPrefix(s.ID, "http://")
	api := strings.TrimPrefix(s.API, "http://")
	local := func(address string) string { return strings.Replace(address, "localhost", "127.0.0.1", 1) }
	access := s.grant(t, s.signIn(t)).access
	token := throng{
		Address: local(host), Warm: time.Duration(times(500, 1000)) * time.Millisecond, Length: time.Duration(times(1, 4)) * time.Second,
		Request: rawRequest("POST", "/token", host, "grant_type=client_credentials&scope=read",
			"Authorization: Basic bWFjaGluZTptYWNoaW5lLXNlY3JldC0wMTIzNDU2Nzg5LTAxMjM0NTY3ODktMDEyMzQ1"),
	}
	var best float64
	for _, n := range []int{16, 32, 64, 128, 256} {
		token.Connections = n
		r := token.run(t)
		best = max(best, r.rate())
		t.Logf("%4d connections: %v", n, r)
		if !inSoak() {
			break
		}
	}
	// How long an answer takes is asked by a client of its own, whose delays are the server's:
	// a throng waits for the processors of this machine itself.
	single := arrivals{Address: token.Address, Request: token.Request, Rate: 200, MayRefuse: true}
	// It asks as long as what the throng sees is measured.
	asked := func() (throngResult, []time.Duration) {
		all := token.start(t)
		time.Sleep(token.Warm)
		single.begin(t)
		if inSoak() {
			single.comeFirst(t)
		}
		return all(), single.end(t)
	}
	token.Connections, token.Rate = 16, best/4
	r, quiet := asked()
	t.Logf("a quarter of that:  %v; a single client's p99 %v", r, answersWithin(quiet, 99))
	token.Rate = 0

	token.Connections, token.Warm, token.Length = times(400, 2000), 3*time.Second, time.Duration(times(2, 8))*time.Second
	client := arrivals{Address: local(api), Rate: 100, Request: rawRequest("GET", "/read/1", api, "", "Authorization: Bearer "+access)}
	for _, patient := range []bool{true, false} {
		token.Patient = patient
		memory := residentMemory(t, p.PID())
		client.begin(t) // and fails unless every answer is a 200
		r, single := asked()
		guarded := client.end(t)
		t.Logf("%4d connections that wait after a refusal: %v: %v", token.Connections, patient, r)
		t.Logf("  meanwhile %d requests with a known token, none refused, p99 %v; resident %d MiB before, %d MiB after",
			len(guarded), answersWithin(guarded, 99), memory>>20, residentMemory(t, p.PID())>>20)
		t.Logf("  %d answers to a single client, p50 %v, p99 %v", len(single), answersWithin(single, 50), answersWithin(single, 99))
		if len(r.Refused) == 0 || len(r.Admitted) == 0 {
			t.Fatal("not both admitted and refused")
		}
		// The short form shares its processors with other tests and tells little about time.
		is, was := answersWithin(single, 99), answersWithin(quiet, 99)
		if !inSoak() {
			if is > time.Second {
				t.Errorf("answered requests wait for %v", is)
			}
			continue
		}
		if r.rate() < best*8/10 || is > 4*was {
			t.Errorf("%.0f/s of %.0f/s, p99 %v for %v when it is quiet", r.rate(), best, is, was)
		}
	}
}
