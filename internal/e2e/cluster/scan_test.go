package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// everyRedis are the kinds of Redis that nodes can share, by name.
func everyRedis(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"one server": redistest.Shared(t).URL(), "a primary that sentinels name": redistest.SharedSentinel(t).URL(), "a cluster": redistest.SharedCluster(t).URL(),
	}
}

// B31, on every kind of Redis: the code is begun at one node, scanned and confirmed at
// another, polled for at the first, and redeemed at a third.
func TestWhatOneNodeConfirmsAPollOfAnotherHearsWithinASecond(t *testing.T) {
	for name, url := range everyRedis(t) {
		t.Run(name, func(t *testing.T) {
			p := withPortal()
			p.url = url
			c := start(t, p)
			var scanned, confirmed []time.Duration
			n := times(6, 50)
			for i := range n {
				a, b, d := c.nodes[i%nodesOfCluster], c.nodes[(i+1)%nodesOfCluster], c.nodes[(i+2)%nodesOfCluster]
				from := fmt.Sprintf("127.9.%d.1", i/5) // what one address may do is not tested here
				phone := c.phone(t, a, from)
				s := c.screen(t, b, from)
				poll := s.hangs(t, "408")
				at := time.Now()
				asks := phone.scan(t, s)
				_, took := within(t, poll, 404, at)
				scanned = append(scanned, took)
				poll = s.hangs(t, "404")
				at = time.Now()
				phone.confirm(t, s, asks)
				v, took := within(t, poll, 405, at)
				confirmed = append(confirmed, took)
				if got, err := c.redeem(d, v.code); err != nil || got.field("openid") == "" {
					t.Fatal("the code at a third node:", got, err)
				}
			}
			slices.Sort(scanned)
			slices.Sort(confirmed)
			t.Logf("%d times: of a scan at another node a poll hears within p50 %v, at most %v, of a confirmation within p50 %v, at most %v",
				n, scanned[n/2], scanned[n-1], confirmed[n/2], confirmed[n-1])
		})
	}
}

// B30.
func TestAPollThatItsNodeGivesUpGoesOnAtAnother(t *testing.T) {
	c := start(t, withPortal())
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	phone := c.phone(t, a, "127.9.99.1")
	for i, end := range []struct {
		name string
		of   func()
	}{
		{"a reload", func() {
			changed := strings.Replace(b.caddyfile, "level ERROR", "level WARN", 1)
			r, err := http.NewRequest(http.MethodPost, b.Admin+"/load", strings.NewReader(b.Text(changed)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "text/caddyfile")
			if got, err := b.send(r); err != nil || got.status != http.StatusOK {
				t.Fatal("reload:", got, err)
			}
		}},
		{"SIGTERM", func() {
			if err := syscall.Kill(b.process.PID(), syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		s := c.screen(t, b, fmt.Sprintf("127.9.100.%d", i+1))
		poll := s.hangs(t, "408")
		at := time.Now()
		end.of()
		_, took := within(t, poll, 408, at)
		s.at = d
		poll = s.hangs(t, "408")
		at = time.Now()
		asks := phone.scan(t, s)
		within(t, poll, 404, at)
		poll = s.hangs(t, "404")
		at = time.Now()
		phone.confirm(t, s, asks)
		v, heard := within(t, poll, 405, at)
		if got, err := c.redeem(a, v.code); err != nil || got.field("openid") == "" {
			t.Fatal("the code:", got, err)
		}
		t.Logf("%s: the poll comes back after %v; the next one, at another node, hears of the confirmation within %v", end.name, took, heard)
	}
}

// The node that began a ticket is killed, at each of its steps: the rest is done at others,
// as the browsers would do whose connections break.
func TestATicketIsFinishedWhereItWasNotBegun(t *testing.T) {
	c := start(t, withPortal())
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	for i, dies := range []string{"before the scan", "before the decision", "before it is told", "before the code is redeemed"} {
		from := fmt.Sprintf("127.10.%d.1", i)
		phone, s := c.phone(t, a, from), c.screen(t, a, from)
		kill := func(step string, last string) {
			if step != dies {
				return
			}
			poll := s.hangs(t, last)
			a.process.Kill()
			if got := <-poll; got.err == nil {
				t.Errorf("%s: the poll of a node that was killed says %+v", dies, got)
			}
			phone.at, s.at = d, b
		}
		kill("before the scan", "408")
		asks := phone.scan(t, s)
		kill("before the decision", "404")
		poll := s.hangs(t, "404")
		at := time.Now()
		if dies == "before it is told" {
			a.process.Kill()
			<-poll
			phone.at, s.at = d, b
			phone.confirm(t, s, asks)
			at = time.Now()
			poll = s.poll("404")
		} else {
			phone.confirm(t, s, asks)
		}
		v, _ := within(t, poll, 405, at)
		if dies == "before the code is redeemed" {
			a.process.Kill()
			s.at = b
			if again := s.ask(s.device, "404"); again.err != nil || again.state != 405 || again.code != v.code {
				t.Errorf("another node tells %+v, the first told %+v", again, v)
			}
		}
		if got, err := c.redeem(d, v.code); err != nil || got.field("openid") == "" {
			t.Errorf("killed %s: the code: %v, %v", dies, got, err)
		}
		a.run(t)
	}
}
