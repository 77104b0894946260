package soak

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

const bareCaddyfile = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		level ERROR
	}
}
http://$ID {
	respond 204
}
http://$API {
	reverse_proxy $UPSTREAM {
		transport http {
			keepalive 1s
			keepalive_idle_conns_per_host 1000
		}
	}
}
`

// slice is what was measured of one process for a short time.
type slice struct {
	cpu      float64 // microseconds a request, user and system
	rate     float64 // requests a second
	p50, p99 time.Duration
}

// beside is one process of a comparison, and what was measured of it.
type beside struct {
	name    string
	site    *site
	process *harness.Process
	access  string  // the token that its requests bear
	most    float64 // times the CPU of the first one that are accepted
	slices  []slice
}

// The cost of guard, limit and error translation beside a bare reverse proxy, of the same
// binary with the same upstream, with counts in the process and in a Redis, and for some
// numbers of requests at once. Slices alternate, so that all see the same machine; the
// medians are compared. Who is alone pays a round trip to Redis beside the two that a bare
// request makes; who is not shares it.
func TestWhatAGuardedRequestCostsBesideBareCaddy(t *testing.T) {
	upstream := startUpstream(t)
	bare := &site{Gateway: harness.Prepare(t), upstream: upstream, plain: newClient(t, nil)}
	subjects := []*beside{{name: "bare reverse_proxy", site: bare, process: bare.Run(t, bare.replaceUpstream(bareCaddyfile))}}
	for _, u := range []beside{
		{name: "guard, limit, errors", most: 1.5},
		{name: "the same, Redis limits", most: 2},
	} {
		u.site = &site{Gateway: harness.Prepare(t), upstream: upstream, plain: newClient(t, nil)}
		u.site.WriteFile(t, "users.json", users)
		caddyfile := strings.NewReplacer("\theader X-Version \"1\"\n", "", "keepalive 1s", "keepalive 1s\n\t\t\tkeepalive_idle_conns_per_host 1000").
			Replace(u.site.config("$LIMIT", "client 1000000000 1h\n\t\tuser 1000000000 1m"))
		if len(subjects) == 2 {
			caddyfile = strings.Replace(caddyfile, "\tgatehouse {\n", "\tgatehouse {\n\t\tlimiter redis "+redistest.Start(t).URL()+"\n", 1)
		}
		u.process = u.site.Run(t, caddyfile)
		u.access = u.site.grant(t, u.site.signIn(t)).access
		subjects = append(subjects, &u)
	}

	crowds := []int{connections}
	if inSoak() {
		crowds = append(crowds, 1, 64, 1000)
	}
	for _, n := range crowds {
		compare(t, subjects, n)
	}
}

// compare measures all in turns, the first one being the measure of the others.
func compare(t *testing.T, subjects []*beside, connections int) {
	t.Helper()
	rounds := times(4, 20)
	const length = 500 * time.Millisecond
	for _, u := range subjects {
		u.slices = nil
	}
	for n := range rounds + 1 {
		for i := range subjects {
			u := subjects[(i+n)%len(subjects)] // none is always the first
			address := strings.TrimPrefix(u.site.API, "http://")
			got := measure(t, u.process.PID(), address, rawRequest("GET", "/read/1", address, "", "Authorization: Bearer "+u.access), connections, length)
			if n > 0 { // the first warms up
				u.slices = append(u.slices, got)
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%d slices of %v, %d at once, medians; the ratio is that of neighbouring slices\n%-22s %12s %10s %10s %10s %7s\n",
		rounds, length, connections, "", "CPU/request", "requests/s", "p50", "p99", "ratio")
	for _, u := range subjects {
		// Of neighbours in time, since what else the machine does comes and goes.
		var ratios []float64
		for n := range rounds {
			ratios = append(ratios, u.slices[n].cpu/subjects[0].slices[n].cpu)
		}
		ratio := median(ratios)
		fmt.Fprintf(&table, "%-22s %9.1f us %10.0f %10v %10v %7.3f\n", u.name, medianOf(u.slices, func(s slice) float64 { return s.cpu }),
			medianOf(u.slices, func(s slice) float64 { return s.rate }),
			time.Duration(medianOf(u.slices, func(s slice) float64 { return float64(s.p50) })).Round(time.Microsecond),
			time.Duration(medianOf(u.slices, func(s slice) float64 { return float64(s.p99) })).Round(time.Microsecond), ratio)
		if u != subjects[0] && (math.IsNaN(ratio) || ratio > u.most) {
			t.Errorf("%s, %d at once: a request takes %.2f times the CPU of a bare one, at most %.2f are accepted", u.name, connections, ratio, u.most)
		}
	}
	t.Log("\n" + table.String())
}

func (s *site) replaceUpstream(caddyfile string) string {
	return strings.ReplaceAll(caddyfile, "$UPSTREAM", s.upstream)
}

// medianOf is the median of a field.
func medianOf[T any](all []T, field func(T) float64) float64 {
	var values []float64
	for _, s := range all {
		values = append(values, field(s))
	}
	return median(values)
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	if n := len(values); n > 0 {
		return (values[n/2] + values[(n-1)/2]) / 2
	}
	return math.NaN()
}
