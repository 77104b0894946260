package lifecycle

import (
	"runtime/debug"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// percent is GOGC of this process.
func percent() int {
	now := debug.SetGCPercent(100)
	debug.SetGCPercent(now)
	return now
}

func TestGOGCIsRestoredWithoutTheGateway(t *testing.T) {
	t.Setenv("GOGC", "")
	const large, none = "gc_headroom 64GiB", "gc_headroom off"
	before := percent()
	g, _ := prepare(t)
	check := func(when string, paced bool) {
		t.Helper()
		// The heap of this test is less than 6 GiB by far.
		if now := percent(); paced && now < 10*before || !paced && now != before {
			t.Errorf("%s: GOGC is %d, and %d before", when, now, before)
		}
	}
	g.Start(t, with("$GLOBAL", large))
	check("the gateway runs", true)
	g.Load(t, with("$GLOBAL", large+"\nname Other"))
	check("after a reload", true)
	if err := g.TryLoad(with("$GLOBAL", none, "$SITE", "broken")); err == nil {
		t.Error("a broken configuration was loaded")
	}
	check("after a load that failed", true)
	g.Load(t, with("$GLOBAL", none))
	check("after a reload that turns it off", false)
	g.Load(t, with("$GLOBAL", large))
	check("on again", true)
	g.Load(t, "{\n"+harness.Quiet+"\n}\nhttp://$ID {\n\trespond ok\n}\n")
	check("after a reload without the gateway", false)
}

func TestGOGCFromTheEnvironmentTakesPrecedence(t *testing.T) {
	t.Setenv("GOGC", "100")
	before := percent()
	g, _ := prepare(t)
	g.Start(t, with("$GLOBAL", "gc_headroom 64GiB"))
	if now := percent(); now != before {
		t.Errorf("GOGC is %d, and %d before", now, before)
	}
}
