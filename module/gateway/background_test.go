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
