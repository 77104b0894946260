package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// B31.
func TestWhatOneNodeConfirmsAPollOfAnotherHearsWithinASecond(t *testing.T) {
	c := start(t, withPortal())
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	var scanned, confirmed []time.Duration
	n := times(10, 50)
	for i := range n {
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

// B10.
func TestOfParallelRedemptionsOfVariantBOverThreeNodesOneSucceeds(t *testing.T) {
	c := start(t, withPortal())
	v := c.visitor(t, c.nodes[0])
	const parallel = 64
	codes := times(20, 500)
	for i := range codes {
		v.at = c.nodes[i%nodesOfCluster]
		code := v.Authorize(c.issuer+"/connect/oauth2/authorize?"+portalRequest("snsapi_userinfo"), username, password).Query().Get("code")
		answers, errs := make([]answer, parallel), make([]error, parallel)
		atOnce(parallel, func(i int) { answers[i], errs[i] = c.redeem(c.nodes[i%nodesOfCluster], code) })
		var won []answer
		for i, a := range answers {
			switch {
			case errs[i] != nil:
				t.Fatal(errs[i])
			case a.status == http.StatusOK:
				won = append(won, a)
			case a.status != http.StatusBadRequest || a.errcode() != 40163:
				t.Error("a loser got", a)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%d of %d redemptions of code %d succeeded", len(won), parallel, i)
		}
		// The replays have ended what was issued, on every node.
		for _, n := range c.nodes {
			c.diesOfVariantB(t, n, won[0])
		}
	}
	t.Logf("%d codes x %d parallel redemptions over %d nodes: one success each", codes, parallel, nodesOfCluster)
}

// diesOfVariantB waits until a node refuses what was issued: within a second.
func (c *cluster) diesOfVariantB(t *testing.T, at *node, issued answer) {
	t.Helper()
	target := "/sns/auth?access_token=" + issued.field("access_token") + "&openid=" + issued.field("openid")
	for deadline := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		a, err := c.get(at, target)
		if err == nil && a.status == http.StatusUnauthorized && a.errcode() == 40001 {
			return
		}
		if err != nil || a.status != http.StatusOK || time.Now().After(deadline) {
			t.Errorf("/sns/auth still says %v, %v", a, err)
			return
		}
	}
}
