package gateway

import (
	"testing"
	"time"
)

// work counts how often it was started.
type work struct{ begun int }

func (w *work) Start()                           { w.begun++ }
func (*work) Stop()                              {}
func (*work) Drain(time.Duration)                {}
func (*work) Backlog() (_ string, _ int, _ bool) { return "", 0, false }

func TestWorkOfASiteWithSeveralAddressesStartsOnce(t *testing.T) {
	var app App
	first, second, other := new(work), new(work), new(work)
	for _, c := range []struct {
		name, from string
		b          Background
		refused    bool
	}{{"a", "1", first, false}, {"a", "1", second, false}, {"b", "1", other, false}, {"a", "2", other, true}} {
		if err := app.Attach(c.name, c.from, c.b); (err != nil) != c.refused {
			t.Errorf("%s from %s: %v", c.name, c.from, err)
		}
	}
	app.attached.start()
	app.attached.stop()
	if first.begun != 1 || second.begun != 0 || other.begun != 1 {
		t.Errorf("started %d, %d and %d times", first.begun, second.begun, other.begun)
	}
}

func TestEndedConfigStartsNoBackgroundWork(t *testing.T) {
	for _, c := range []struct{ stopped, want int }{{0, 1}, {1, 0}} {
		var app App
		w := new(work)
		if err := app.Attach("work", "", w); err != nil {
			t.Fatal(err)
		}
		for range c.stopped {
			app.attached.stop()
		}
		app.attached.start()
		app.attached.stop()
		if w.begun != c.want {
			t.Errorf("stopped %d times before: started %d times", c.stopped, w.begun)
		}
	}
}
