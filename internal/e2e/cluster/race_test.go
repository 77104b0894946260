package cluster

import (
	"net/http"
	"testing"
	"time"
)

// E01.
func TestParallelExchangesOnThreeNodesSucceedOnce(t *testing.T) {
	c := start(t, plan{})
	v := c.signIn(t, c.nodes[0])
	const parallel = 64
	codes := times(50, 500)
	for i := range codes {
		v.at = c.nodes[i%nodesOfCluster]
		code := c.code(t, v)
		answers, errs := make([]answer, parallel), make([]error, parallel)
		atOnce(parallel, func(i int) { answers[i], errs[i] = c.exchange(c.nodes[i%nodesOfCluster], code) })
		var won []answer
		for i, a := range answers {
			switch {
			case errs[i] != nil:
				t.Fatal(errs[i])
			case a.status == http.StatusOK:
				won = append(won, a)
			case !a.refusedGrant():
				t.Error("a loser got", a)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%d of %d exchanges of code %d succeeded", len(won), parallel, i)
		}
		// The replays have ended what was issued, on every node.
		for _, n := range c.nodes {
			if a, err := c.refresh(n, won[0].field("refresh_token")); err != nil || !a.refusedGrant() {
				t.Error("the refresh token after the replay:", a, err)
			}
			c.dies(t, n, won[0].field("access_token"))
		}
	}
	t.Logf("%d codes x %d parallel exchanges over %d nodes: one success each", codes, parallel, nodesOfCluster)
}

// E02.
func TestParallelRefreshesInTheGraceShareASuccessor(t *testing.T) {
	const grace = 3 * time.Second
	c := start(t, plan{tokens: "refresh_grace 3s"})
	all, answers := c.storm(t)
	for i := range all {
		next := answers[i][0].field("refresh_token")
		for _, a := range answers[i] {
			if a.status != http.StatusOK || next == "" || a.field("refresh_token") != next {
				t.Errorf("a refresh inside the grace: %v", a)
			}
		}
		for _, n := range c.nodes {
			if a, err := n.read(answers[i][0].field("access_token")); err != nil || a.status != http.StatusOK {
				t.Error("its access token:", a, err)
			}
		}
	}
	time.Sleep(grace + 100*time.Millisecond)
	for i, f := range all {
		if a, err := c.refresh(c.nodes[i%nodesOfCluster], f.refresh); err != nil || !a.refusedGrant() {
			t.Error("reuse:", a, err)
		}
		other := c.nodes[(i+1)%nodesOfCluster]
		if a, err := c.refresh(other, answers[i][0].field("refresh_token")); err != nil || !a.refusedGrant() {
			t.Error("the successor after a reuse:", a, err)
		}
		c.dies(t, other, answers[i][0].field("access_token"))
	}
}

// E02.
func TestParallelRefreshesWithoutGraceSucceedOnce(t *testing.T) {
	c := start(t, plan{tokens: "refresh_grace 0s"})
	all, answers := c.storm(t)
	for i, f := range all {
		var won []answer
		for _, a := range answers[i] {
			switch {
			case a.status == http.StatusOK:
				won = append(won, a)
			case !a.refusedGrant():
				t.Error("a loser got", a)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%d of %d refreshes succeeded: %v", len(won), len(answers[i]), answers[i])
		}
		for _, n := range c.nodes {
			c.dies(t, n, won[0].field("access_token"))
			c.dies(t, n, f.access)
		}
		if a, err := c.refresh(c.nodes[0], won[0].field("refresh_token")); err != nil || !a.refusedGrant() {
			t.Error("the successor:", a, err)
		}
	}
}

// storm refreshes each of many families in parallel over the nodes, and returns them with
// the answers.
func (c *cluster) storm(t *testing.T) ([]family, [][]answer) {
	t.Helper()
	const parallel = 5
	v := c.signIn(t, c.nodes[0])
	all, answers := make([]family, times(20, 200)), make([][]answer, times(20, 200))
	for i := range all {
		all[i] = c.grant(t, v, c.nodes[i%nodesOfCluster])
		answers[i] = make([]answer, parallel)
		errs := make([]error, parallel)
		atOnce(parallel, func(n int) {
			answers[i][n], errs[n] = c.refresh(c.nodes[(i+n)%nodesOfCluster], all[i].refresh)
		})
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return all, answers
}

// dies waits until the guard of a node refuses a token: within a second.
func (c *cluster) dies(t *testing.T, at *node, access string) {
	t.Helper()
	for deadline := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		a, err := at.read(access)
		if err == nil && a.refusedToken() {
			return
		}
		if err != nil || a.status != http.StatusOK || time.Now().After(deadline) {
			t.Errorf("the guard still says %v, %v", a, err)
			return
		}
	}
}
