package endurance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
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

// The cost of guard, limit and error translation beside a bare reverse proxy, of the same
// binary with the same upstream. Slices alternate, so that both see the same machine;
// the medians are compared.
func TestWhatAGuardedRequestCostsBesideBareCaddy(t *testing.T) {
	upstream := startUpstream(t)
	bare := &site{Gateway: harness.Prepare(t), upstream: upstream, plain: newClient(t, nil)}
	bareProcess := bare.Run(t, bare.replaceUpstream(bareCaddyfile))
	guarded := &site{Gateway: harness.Prepare(t), upstream: upstream, plain: newClient(t, nil)}
	guarded.WriteFile(t, "users.json", users)
	guardedProcess := guarded.Run(t, strings.Replace(guarded.config("$LIMIT", "client 1000000000 1h\n\t\tuser 1000000000 1m"),
		"\theader X-Version \"1\"\n", "", 1))
	access := guarded.grant(t, guarded.signIn(t)).access

	rounds := times(4, 20)
	length := time.Duration(times(500, 1000)) * time.Millisecond
	subjects := []struct {
		name    string
		site    *site
		process *harness.Process
		slices  []slice
	}{
		{name: "bare reverse_proxy", site: bare, process: bareProcess},
		{name: "guard, limit, errors", site: guarded, process: guardedProcess},
	}
	for n := range rounds + 1 {
		for i := range subjects {
			u := &subjects[(i+n)%len(subjects)] // neither is always the first
			address := strings.TrimPrefix(u.site.API, "http://")
			got := measure(t, u.process.PID(), address, rawRequest("GET", "/read/1", address, "", "Authorization: Bearer "+access), length)
			if n > 0 { // the first warms up
				u.slices = append(u.slices, got)
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%d slices of %v, %d connections, medians\n%-22s %12s %10s %10s %10s\n",
		rounds, length, connections, "", "CPU/request", "requests/s", "p50", "p99")
	for _, u := range subjects {
		fmt.Fprintf(&table, "%-22s %9.1f us %10.0f %10v %10v\n", u.name, medianOf(u.slices, func(s slice) float64 { return s.cpu }),
			medianOf(u.slices, func(s slice) float64 { return s.rate }),
			time.Duration(medianOf(u.slices, func(s slice) float64 { return float64(s.p50) })).Round(time.Microsecond),
			time.Duration(medianOf(u.slices, func(s slice) float64 { return float64(s.p99) })).Round(time.Microsecond))
	}
	// Of neighbours in time, since what else the machine does comes and goes.
	var ratios []float64
	for n := range rounds {
		ratios = append(ratios, subjects[1].slices[n].cpu/subjects[0].slices[n].cpu)
	}
	ratio := median(ratios)
	fmt.Fprintf(&table, "ratio of CPU of neighbouring slices, median: %.3f\n", ratio)
	t.Log("\n" + table.String())
	if math.IsNaN(ratio) || ratio > most {
		t.Errorf("a guarded request takes %.2f times the CPU of a bare one, at most %.2f are accepted", ratio, most)
	}
}

// most is what a guarded request may cost; a little above what is measured on a quiet machine.
const most = 1.5

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
