package authserver_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

// together sends the same request n times at once.
func (g *tokenRig) together(n int, p params) []answer {
	answers := make([]answer, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			<-start
			answers[i] = g.token(p)
		})
	}
	close(start)
	all.Wait()
	return answers
}

func tally(answers []answer) map[int]int {
	count := map[int]int{}
	for _, a := range answers {
		count[a.status]++
	}
	return count
}

func TestParallelExchangesSucceedOnce(t *testing.T) { // C14, on one node
	g := newTokenRig(t)
	for range 20 {
		answers := g.together(64, redeemWeb(g.code()))
		if n := tally(answers); n[200] != 1 || n[400] != 63 {
			t.Fatalf("answers by status: %v", n)
		}
		for _, a := range answers {
			switch {
			case a.status == 400 && a.tokens.Error != "invalid_grant":
				t.Fatal(a.body)
			case a.status == 200: // pinned: the replays killed what the winner got
				if g.alive(a.tokens.Access) {
					t.Fatal("the access token lives")
				}
				g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
			}
		}
	}
}

func TestParallelRefreshesInTheGraceGetOneSuccessor(t *testing.T) { // F05
	g := newTokenRig(t)
	for range 20 {
		answers := g.together(5, refreshWeb(g.begin().tokens.Refresh))
		for _, a := range answers {
			if a.status != 200 || a.tokens.Refresh != answers[0].tokens.Refresh || !g.alive(a.tokens.Access) {
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
		g.want(g.token(refreshWeb(answers[0].tokens.Refresh)), 200, "")
	}
}

func TestParallelRefreshesWithoutGraceEndTheGrant(t *testing.T) { // F06
	synctest.Test(t, func(t *testing.T) {
		g := newTokenRig(t, func(c *authserver.Config) { c.Lifetimes.RefreshGrace = 0 })
		for range 20 {
			first := g.begin()
			answers := g.together(5, refreshWeb(first.tokens.Refresh))
			if n := tally(answers); n[200] != 1 || n[400] != 4 {
				t.Fatalf("answers by status: %v", n)
			}
			for _, a := range append(answers, first) {
				if a.status == 200 && g.alive(a.tokens.Access) {
					t.Fatal("an access token lives")
				}
				if a.status == 200 {
					g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
				}
			}
		}
	})
}

func TestManyValidRequestsAreNotThrottled(t *testing.T) { // T21
	g := newTokenRig(t)
	p := params{"grant_type": "client_credentials", "client_id": "web", "client_secret": webSecret}
	if n := tally(g.together(100, p)); n[200] != 100 {
		t.Fatalf("answers by status: %v", n)
	}
}

func TestParallelSecretGuessesAreLimitedToTen(t *testing.T) { // T21
	g := newTokenRig(t)
	p := params{"grant_type": "client_credentials", "client_id": "web", "client_secret": "wrong"}
	if n := tally(g.together(100, p)); n[401] != 10 || n[429] != 90 {
		t.Fatalf("answers by status: %v", n)
	}
}
