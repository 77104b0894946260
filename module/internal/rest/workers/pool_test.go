package workers

import "testing"

func TestWorkersAreThoseOfTheNewestConfiguration(t *testing.T) {
	p, older, newer := NewPool(), NewLoop(8), NewLoop(4)
	caller := Mark{Client: "a"}
	for i, c := range []struct {
		change func()
		free   int
	}{
		{func() {}, 0},
		{func() { p.Join(older) }, 6},
		{func() { p.Join(newer) }, 3},
		{func() { p.Leave(older) }, 3},
		{func() { p.Join(older) }, 6}, // a reload that came late
		{func() { p.Leave(older) }, 3},
		{func() { p.Leave(newer) }, 0},
	} {
		c.change()
		if got := p.Free(caller); got != c.free {
			t.Errorf("step %d: %d, want %d", i, got, c.free)
		}
	}
}

func TestWorkerIsTakenOnce(t *testing.T) {
	p := NewPool()
	p.Join(NewLoop(2))
	a, b, c := Mark{ID: "1", Client: "a"}, Mark{ID: "2", Client: "a"}, Mark{ID: "3", Client: "b"}
	if !p.Take(a) || p.Take(a) || !p.Take(b) || p.Take(c) || !p.IsBusy() || !p.Has("1") {
		t.Error("two workers do not have one job each")
	}
	p.Cancel("1", nil) // it is only being claimed
	p.GiveBack("1")
	if p.IsBusy() || p.Has("1") || p.Free(c) != 1 || !p.Take(c) {
		t.Error("a worker is not free again")
	}
}

// A loop is woken once for all that happens while it is busy, and nobody waits for it.
func TestLoopsAreWoken(t *testing.T) {
	p, one, two := NewPool(), NewLoop(1), NewLoop(1)
	p.Join(one)
	p.Join(two)
	for range 3 {
		p.Wake()
	}
	for _, l := range []*Loop{one, two} {
		<-l.Wake
		if len(l.Wake) != 0 {
			t.Error("woken twice")
		}
	}
}
