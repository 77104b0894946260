package harness

import (
	"fmt"
	"strings"
	"testing"
)

// failing is a test that counts as failed.
type failing struct {
	testing.TB
	cleanups []func()
	said     string
}

func (f *failing) Failed() bool                    { return true }
func (f *failing) Cleanup(done func())             { f.cleanups = append(f.cleanups, done) }
func (f *failing) Logf(format string, args ...any) { f.said += fmt.Sprintf(format, args...) }

// end runs the cleanups of the test, the last one first.
func (f *failing) end() {
	for i := len(f.cleanups); i > 0; i-- {
		f.cleanups[i-1]()
	}
}

const tinySite = "{\n" + Quiet + "\n}\nhttp://$ID {\n\tlog\n\trespond /$PATH ok\n}\nhttp://$API {\n\trespond ok\n}\n"

func TestFailedTestShowsTheEndOfTheLog(t *testing.T) {
	f := &failing{TB: t}
	g := Start(f, tinySite, "$PATH", "seen")
	for range failureLines {
		Get(t, g.ID+"/filler")
	}
	Get(t, g.ID+"/seen")
	f.end()
	if n := strings.Count(f.said, `"msg":"handled request"`); n == 0 || n > failureLines || !strings.Contains(f.said, `"uri":"/seen"`) {
		t.Errorf("%d requests in %s", n, f.said)
	}
	if n := strings.Count(f.said, "\n"); n > failureLines {
		t.Errorf("%d lines", n)
	}

	// The next gateway in the process starts with an empty log.
	f = &failing{TB: t}
	Start(f, tinySite, "$PATH", "again")
	f.end()
	if strings.Contains(f.said, "/filler") {
		t.Errorf("the log of the gateway before: %s", f.said)
	}
}

func TestFailureLogShowsTheLastLines(t *testing.T) {
	out, f := new(Output), &failing{TB: t}
	for i := range 100 {
		fmt.Fprintln(out, "line", i)
	}
	new(Gateway).showIfFailed(f, out)
	if !strings.Contains(f.said, "line 60\n") || strings.Contains(f.said, "line 59\n") || !strings.HasSuffix(f.said, "line 99") {
		t.Error(f.said)
	}
	f = &failing{TB: t}
	new(Gateway).showIfFailed(f, new(Output))
	if f.said != "" {
		t.Error(f.said)
	}
}
