package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/limiter/redis"
)

var (
	perClient = &ratelimit.Policy{Name: "client", Limit: 40, Window: 10 * time.Second}
	perRoute  = &ratelimit.Policy{Name: "route", Limit: 900, Window: 10 * time.Second}
	clients   = 20

	perUser  = &ratelimit.Policy{Name: "user", Limit: 40, Window: 10 * time.Second, Place: ratelimit.BySubject}
	userLong = &ratelimit.Policy{Name: "user_long", Limit: 90, Window: 30 * time.Second, Place: ratelimit.BySubject}

	// Of these, Redis charges some requests in advance.
	perTenant  = &ratelimit.Policy{Name: "tenant", Limit: 960, Window: 15 * time.Second, Place: ratelimit.BySubject}
	tenantLong = &ratelimit.Policy{Name: "tenant_long", Limit: 6400, Window: 90 * time.Second, Place: ratelimit.BySubject}

	// These are counted apart from the users and tenants of the same requests.
	common      = &ratelimit.Policy{Name: "common", Limit: 600, Window: 10 * time.Second, Place: "common:10000"}
	commonLarge = &ratelimit.Policy{Name: "common_large", Limit: 1920, Window: 15 * time.Second, Place: "common:10000"}

	perApp = &ratelimit.Policy{Name: "app", Limit: 960, Window: 15 * time.Second}
	all    = &ratelimit.Policy{Name: "all", Limit: 2560, Window: 30 * time.Second}
)

// traffic is who asks, and how often.
type traffic struct {
	nodes  int // that serve requests
	charge func(node int, random *rand.Rand) []ratelimit.Charge
	pause  func(*rand.Rand) time.Duration
	leases bool
}

// sparse is traffic of many nodes, each of which serves all callers.
func sparse(charge func(*rand.Rand) []ratelimit.Charge) traffic {
	return traffic{
		nodes:  nodes,
		charge: func(_ int, random *rand.Rand) []ratelimit.Charge { return charge(random) },
		pause: func(random *rand.Rand) time.Duration {
			return time.Duration(random.ExpFloat64() * float64(500*time.Millisecond))
		},
	}
}

// dense is traffic of three callers, each of whom uses four nodes: often for a while, then seldom.
func dense(charge func(caller string) []ratelimit.Charge) traffic {
	return traffic{
		nodes:  12,
		charge: func(node int, _ *rand.Rand) []ratelimit.Charge { return charge(fmt.Sprint("t", node%3)) },
		pause: func(random *rand.Rand) time.Duration {
			mean := 25 * time.Millisecond
			if time.Now().Unix()%36 >= 12 {
				mean = time.Second
			}
			return time.Duration(random.ExpFloat64() * float64(mean))
		},
		leases: true,
	}
}

func tenants(caller string) []ratelimit.Charge {
	return []ratelimit.Charge{{Policy: perTenant, Subject: caller}, {Policy: tenantLong, Subject: caller}}
}

func apps(caller string) []ratelimit.Charge {
	return []ratelimit.Charge{{Policy: perApp, Subject: caller}, {Policy: all}}
}

// tenantsBesideAll are the charges of a tenant and of all, which are counted on two servers.
func tenantsBesideAll(caller string) []ratelimit.Charge {
	return []ratelimit.Charge{{Policy: perTenant, Subject: caller}, {Policy: commonLarge}}
}

// userBesideAll are the charges of a user and of all, which are counted on two servers.
func userBesideAll(random *rand.Rand) []ratelimit.Charge {
	return []ratelimit.Charge{{Policy: common}, {Policy: perUser, Subject: fmt.Sprint("u", random.IntN(clients))}}
}

// twoSubjects are the charges of a client and a route, which are counted on one server.
func twoSubjects(random *rand.Rand) []ratelimit.Charge {
	client, route := fmt.Sprint("c", random.IntN(clients)), fmt.Sprint("r", random.IntN(2))
	return []ratelimit.Charge{{Policy: perClient, Subject: client}, {Policy: perRoute, Subject: route}}
}

// oneSubject are the charges of a user, which are counted on the server of that user.
func oneSubject(random *rand.Rand) []ratelimit.Charge {
	user := fmt.Sprint("u", random.IntN(clients))
	return []ratelimit.Charge{{Policy: perUser, Subject: user}, {Policy: userLong, Subject: user}}[random.IntN(2):]
}

// In any window no policy admits more than its limit, whatever happens to the network, and no
// request is refused that would have fitted.
func TestLimitsAreExact(t *testing.T) {
	differing := [servers]time.Duration{0, 40 * time.Second, -time.Hour}
	for _, c := range []struct {
		name    string
		skew    [servers]time.Duration
		faults  bool
		traffic traffic
	}{
		{name: "in a quiet network", traffic: sparse(twoSubjects)},
		{name: "with partitions and broken connections", faults: true, traffic: sparse(twoSubjects)},
		{name: "with clocks that differ", skew: differing, faults: true, traffic: sparse(twoSubjects)},
		{name: "by subject in a quiet network", traffic: sparse(oneSubject)},
		{name: "by subject with partitions and broken connections", faults: true, traffic: sparse(oneSubject)},
		{name: "by subject with clocks that differ", skew: differing, faults: true, traffic: sparse(oneSubject)},
		{name: "divided in a quiet network", traffic: sparse(userBesideAll)},
		{name: "divided with partitions and broken connections", faults: true, traffic: sparse(userBesideAll)},
		{name: "divided with clocks that differ", skew: differing, faults: true, traffic: sparse(userBesideAll)},
		{name: "divided and in advance in a quiet network", traffic: dense(tenantsBesideAll)},
		{name: "divided and in advance with clocks that differ", skew: differing, faults: true, traffic: dense(tenantsBesideAll)},
		{name: "in advance in a quiet network", traffic: dense(apps)},
		{name: "in advance with partitions and broken connections", faults: true, traffic: dense(apps)},
		{name: "in advance by subject in a quiet network", traffic: dense(tenants)},
		{name: "in advance by subject with clocks that differ", skew: differing, faults: true, traffic: dense(tenants)},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, c.skew, func(w *world) { w.playLimits(c.faults, c.traffic) })
		})
	}
}

func (w *world) playLimits(faults bool, kind traffic) {
	l := ledger{quiet: !faults}
	if kind.leases {
		l.holders = int64(kind.nodes)
	}
	var asking, disturbance sync.WaitGroup
	stop := make(chan struct{})
	if faults {
		w.lossy = 0.002
		disturbance.Go(func() { w.disturb(stop) })
	}
	for node := range kind.nodes {
		source, random := w.openLimiter(node), w.numbers(node)
		asking.Go(func() {
			for end := time.Now().Add(w.lasts); time.Now().Before(end); {
				time.Sleep(kind.pause(random))
				r := ratelimit.Request{Charges: kind.charge(node, random), Cost: 1 + random.Int64N(3), OnOutage: ratelimit.OutageOpen}
				if kind.leases {
					r.Cost = 1 + random.Int64N(8)/7
				}
				l.decide(w.T, source, r)
			}
			if err := source.Close(); err != nil {
				w.Error(err)
			}
		})
	}
	asking.Wait()
	close(stop)
	disturbance.Wait()
	l.check(w.T)
	if kind.leases && 10*l.leased < l.admitted {
		w.Errorf("%d of %d requests were admitted by a lease", l.leased, l.admitted)
	}
}

func (w *world) openLimiter(node int) ratelimit.OpenSource {
	w.Helper()
	l := &redis.Limiter{Config: w.config(node)}
	l.Timeout = caddy.Duration(50 * time.Millisecond)
	if err := l.Provision(caddy.Context{}); err != nil {
		w.Fatal(err)
	}
	source, err := l.Open(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return source
}

// decision is one that was made, or may have been: in an outage, Redis may charge for it later.
type decision struct {
	first, last time.Time // when it was charged at the earliest and the latest, by one clock for all of a counter
	asked, at   time.Time
	cost        int64
}

// counter is what is known of one subject of one policy.
type counter struct {
	policy                    *ratelimit.Policy
	admitted, refused, unsure []decision
	undone                    []decision // that another server refused
}

// ledger is kept apart from the limiter, to judge it.
type ledger struct {
	quiet   bool  // the network
	holders int64 // nodes that may hold what was charged in advance

	mu       sync.Mutex
	counters map[ratelimit.Charge]*counter
	admitted int
	leased   int // of admitted: without asking a server, which takes time in this network
	outages  int
}

func (l *ledger) decide(t *testing.T, s ratelimit.Source, r ratelimit.Request) {
	asked := time.Now()
	v, err := s.Decide(t.Context(), r)
	if err != nil {
		t.Error(err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	d := decision{v.At, v.At, asked, time.Now(), r.Cost}
	divided := isDivided(r)
	if divided { // each part was charged by the clock of a server of its own
		d.first, d.last = d.asked, d.at
	}
	switch {
	case v.Outage:
		l.outages++
	case v.Admitted:
		l.admitted++
		if d.at.Equal(d.asked) {
			l.leased++
		}
	}
	for i, charge := range r.Charges {
		c := l.counter(charge)
		switch {
		case v.Outage:
			c.unsure = append(c.unsure, d)
		case v.Admitted:
			c.admitted = append(c.admitted, d)
		case v.Results[i].Violated:
			c.refused = append(c.refused, d)
		case divided:
			c.undone = append(c.undone, d)
		}
	}
}

func (l *ledger) counter(charge ratelimit.Charge) *counter {
	c := l.counters[charge]
	if c == nil {
		if l.counters == nil {
			l.counters = make(map[ratelimit.Charge]*counter)
		}
		c = &counter{policy: charge.Policy}
		l.counters[charge] = c
	}
	return c
}

// isDivided reports whether a request is counted on two servers.
func isDivided(r ratelimit.Request) bool {
	return slices.ContainsFunc(r.Charges, func(c ratelimit.Charge) bool { return c.Policy.Place != r.Charges[0].Policy.Place })
}

// idle is the largest number of units that can have been charged in advance and not used, or have been lost then.
func (l *ledger) idle(p *ratelimit.Policy) int64 {
	switch {
	case l.holders == 0:
		return 0
	case l.quiet:
		return l.holders * (p.Limit / 64)
	}
	return p.Limit / 2 // nothing is charged in advance above it
}

func (l *ledger) check(t *testing.T) {
	t.Helper()
	var admitted, refused int
	for charge, c := range l.counters {
		admitted += len(c.admitted)
		refused += len(c.refused)
		if got, at := c.most(); got > c.policy.Limit {
			t.Errorf("policy %s, subject %s: %d units within a window, the limit is %d, at %v", c.policy.Name, charge.Subject, got, c.policy.Limit, at)
		}
		for _, d := range c.refused {
			if possible := c.possible(d, l.quiet) + l.idle(c.policy); possible+d.cost <= c.policy.Limit {
				t.Errorf("policy %s, subject %s: %d units were refused at %v with at most %d of %d in use",
					c.policy.Name, charge.Subject, d.cost, d.at, possible, c.policy.Limit)
			}
		}
	}
	t.Logf("%d charges admitted, %d refused, %d requests in an outage", admitted, refused, l.outages)
	if admitted == 0 || refused == 0 || l.quiet != (l.outages == 0) {
		t.Error("this run shows nothing")
	}
}

// most is the largest number of units that one window certainly admitted, by the clock of whoever counted them.
func (c *counter) most() (most int64, at time.Time) {
	slices.SortFunc(c.admitted, func(a, b decision) int { return a.first.Compare(b.first) })
	var sum int64
	first := 0
	for _, d := range c.admitted {
		sum += d.cost
		for ; d.last.Sub(c.admitted[first].first) >= c.policy.Window; first++ {
			sum -= c.admitted[first].cost
		}
		if sum > most {
			most, at = sum, d.last
		}
	}
	return most, at
}

// slack is how far apart a decision and its answer may lie, and for how long a connection
// that is cut may keep a charge.
const slack = 6 * time.Second

// possible is the largest number of units that can have been in use when d was refused: those of
// one window and one slot before it. Without faults what another server refused counts only until that is known, and a
// second more where a node remembers what it met.
func (c *counter) possible(d decision, quiet bool) (sum int64) {
	oldest := d.asked.Add(-c.policy.Window - c.policy.Window/ratelimit.Slots)
	for _, a := range c.admitted {
		if a.at.After(oldest) && a.asked.Before(d.at) {
			sum += a.cost
		}
	}
	for _, a := range c.unsure {
		if a.at.Add(slack).After(oldest) && a.asked.Before(d.at) {
			sum += a.cost
		}
	}
	for _, a := range c.undone {
		if until := a.at.Add(time.Second); a.asked.Before(d.at) && (until.After(d.asked) || !quiet && a.at.Add(slack).After(oldest)) {
			sum += a.cost
		}
	}
	return sum
}
