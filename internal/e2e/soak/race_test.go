package soak

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// atOnce runs f n times in parallel, all let go at one moment.
func atOnce(n int, f func(i int)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	wg.Wait()
}

// E01.
func TestOneOfManyParallelExchangesSucceedsAndTheReplayKillsIt(t *testing.T) {
	s := newSite(t)
	p := s.Run(t, s.config())
	browser := s.signIn(t)
	const parallel = 64
	races := times(20, 200)
	for range races {
		code, err := s.code(browser)
		if err != nil {
			t.Fatal(err)
		}
		answers, errs := make([]answer, parallel), make([]error, parallel)
		atOnce(parallel, func(i int) { answers[i], errs[i] = s.exchange(code) })
		var won []answer
		for i, a := range answers {
			switch {
			case errs[i] != nil:
				t.Fatal(errs[i])
			case a.status == http.StatusOK:
				won = append(won, a)
			case a.status != http.StatusBadRequest || a.field("error") != "invalid_grant":
				t.Error("a loser got", a)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%d of %d exchanges succeeded", len(won), parallel)
		}
		s.dies(t, won[0].field("access_token"))
		if a, err := s.refresh(won[0].field("refresh_token")); err != nil || a.field("error") != "invalid_grant" {
			t.Error("the refresh token after the replay:", a, err)
		}
	}
	t.Logf("%d codes x %d parallel exchanges: one success each", races, parallel)
	p.Stop()
}

// E02.
func TestParallelRefreshes(t *testing.T) {
	const parallel = 5
	families := times(20, 200)
	// storm refreshes each family in parallel and returns the answers by family.
	storm := func(t *testing.T, s *site) ([]family, [][]answer) {
		t.Helper()
		browser := s.signIn(t)
		all, answers := make([]family, families), make([][]answer, families)
		for i := range all {
			all[i] = s.grant(t, browser)
			answers[i] = make([]answer, parallel)
			errs := make([]error, parallel)
			atOnce(parallel, func(n int) { answers[i][n], errs[n] = s.refresh(all[i].refresh) })
			for _, err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		return all, answers
	}

	t.Run("inside the grace all get one successor, and after it a reuse ends the family", func(t *testing.T) {
		s := newSite(t)
		const grace = 2 * time.Second
		s.Run(t, s.config("$TOKENS", "refresh_grace 2s"))
		all, answers := storm(t, s)
		for i := range all {
			next := answers[i][0].field("refresh_token")
			for _, a := range answers[i] {
				if a.status != http.StatusOK || next == "" || a.field("refresh_token") != next {
					t.Errorf("a refresh inside the grace: %v", a)
				}
				if b, err := s.read("/read", a.field("access_token")); err != nil || b.status != http.StatusOK {
					t.Error("its access token:", b, err)
				}
			}
		}
		time.Sleep(grace + 100*time.Millisecond)
		for i, f := range all {
			if a, err := s.refresh(f.refresh); err != nil || a.field("error") != "invalid_grant" {
				t.Error("reuse:", a, err)
			}
			for _, a := range answers[i] {
				s.dies(t, a.field("access_token"))
			}
			if a, err := s.refresh(answers[i][0].field("refresh_token")); err != nil || a.field("error") != "invalid_grant" {
				t.Error("the successor after a reuse:", a, err)
			}
		}
	})

	t.Run("without a grace one succeeds and nothing of the family lives on", func(t *testing.T) {
		s := newSite(t)
		s.Run(t, s.config("$TOKENS", "refresh_grace 0s"))
		all, answers := storm(t, s)
		for i, f := range all {
			var won []answer
			for _, a := range answers[i] {
				switch {
				case a.status == http.StatusOK:
					won = append(won, a)
				case a.status != http.StatusBadRequest || a.field("error") != "invalid_grant":
					t.Error("a loser got", a)
				}
			}
			if len(won) != 1 {
				t.Fatalf("%d of %d refreshes succeeded: %v", len(won), parallel, answers[i])
			}
			s.dies(t, won[0].field("access_token"))
			s.dies(t, f.access)
			if a, err := s.refresh(won[0].field("refresh_token")); err != nil || a.field("error") != "invalid_grant" {
				t.Error("the successor:", a, err)
			}
		}
	})
}
