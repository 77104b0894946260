package quickstart

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// browse runs one scenario of .ci/node/scenarios.js in Chromium.
func (s *stand) browse(t *testing.T, scenario string, more ...string) {
	t.Helper()
	s.node(t, 2*time.Minute, "browser.js "+scenario, func(string) string { return "" }, more...)
}

func TestAPersonSignsInAndOutOnAnyScreenWithAndWithoutJavaScript(t *testing.T) {
	start(t).browse(t, "signInAndOut")
}

func TestAPersonSignsInWithTheKeyboardAlone(t *testing.T) {
	start(t).browse(t, "keyboard")
}

func TestAPersonWhoIsRefusedOrRefusesIsTold(t *testing.T) {
	start(t).browse(t, "refusals")
}

func TestTheReaderRefusesACallbackThatItsBrowserDidNotBegin(t *testing.T) {
	start(t).browse(t, "state")
}

func TestAPersonSeesAndEndsWhatTheAccountPageLists(t *testing.T) {
	start(t).browse(t, "account")
}

func TestEveryPageIsAccessibleAndFitsInEveryLook(t *testing.T) {
	dir := harness.Pictures(t, "quickstart")
	startAlone(t).browse(t, "looks", "SHOTS="+dir)
	if pictures, err := filepath.Glob(filepath.Join(dir, "*.png")); err != nil || len(pictures) != 48 {
		t.Errorf("%d pictures, %v", len(pictures), err)
	}
}
