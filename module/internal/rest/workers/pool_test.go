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
	if !p.Take(a) || p.Take(a) || !p.Take(b) || p.Take(c) || p.Free(c) != 0 || !p.Has("1") {
		t.Error("two workers do not have one job each")
	}
	p.Cancel("1", nil) // it is only being claimed
	p.GiveBack("1")
	if p.Has("1") || p.Free(c) != 1 || !p.Take(c) {
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

// Addresses are cheap: those without a token never have all workers, and one network takes turns as one caller.
func TestStrangersLeaveAWorker(t *testing.T) {
	p := NewPool()
	p.Join(NewLoop(4))
	for i, from := range []string{"192.0.2.1", "198.51.100.1", "2001:db8::/64"} {
		if !p.Take(Mark{ID: from, From: from}) {
			t.Errorf("number %d has no worker", i)
		}
	}
	if p.Take(Mark{ID: "4", From: "2001:db8:1::/64"}) {
		t.Error("strangers have all workers")
	}
	if !p.Take(Mark{ID: "5", Client: "a"}) {
		t.Error("none is left for a client")
	}
	for from, want := range map[string]string{
		"2001:db8:1:2::/64": "2001:db8:1::/48", "2001:db8:1:ffff::/64": "2001:db8:1::/48", "192.0.2.1": "192.0.2.1", "unknown": "unknown", "": "",
	} {
		if got := (Mark{ID: "1", From: from}).Caller(); got != (Mark{From: want}) {
			t.Errorf("%q counts as %+v", from, got)
		}
	}
}
