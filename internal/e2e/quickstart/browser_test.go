package quickstart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// browse runs one scenario of .ci/node/scenarios.js in Chromium.
func (s *stand) browse(t *testing.T, scenario string, more ...string) {
	t.Helper()
	s.node(t, 5*time.Minute, "browser.js "+scenario, func(string) string { return "" }, more...)
}

func TestUserSignsInAndOutWithAndWithoutJavaScript(t *testing.T) {
	start(t).browse(t, "signInAndOut")
}

func TestUserSignsInWithTheKeyboardAlone(t *testing.T) {
	start(t).browse(t, "keyboard")
}

func TestRefusalsAreExplainedToTheUser(t *testing.T) {
	start(t).browse(t, "refusals")
}

func TestReaderRefusesAForeignCallback(t *testing.T) {
	start(t).browse(t, "state")
}

func TestBrowserHistorySignsNobodyIn(t *testing.T) {
	start(t).browse(t, "history")
}

func TestUserSeesAndEndsAccountPageEntries(t *testing.T) {
	start(t).browse(t, "account")
}

func TestEveryPageIsAccessibleInEveryTheme(t *testing.T) {
	dir := harness.Pictures(t, "quickstart")
	startAlone(t).browse(t, "looks", "SHOTS="+dir)
	if pictures, err := filepath.Glob(filepath.Join(dir, "*.png")); err != nil || len(pictures) != 48 {
		t.Errorf("%d pictures, %v", len(pictures), err)
	}
}

// The pictures of README.md and caddyfile/README.md are made here: with GATEHOUSE_SCREENSHOTS set to a
// directory they stay in its folder docs.
func TestEveryWordOfPagesIsSeen(t *testing.T) { // S13, S15
	e := prepare(t)
	file := filepath.Join(e.Dir, "Caddyfile")
	text := e.Read(t, "Caddyfile")
	const name = "\t\tname \"Example ID\"\n"
	if !strings.Contains(text, name) {
		t.Fatal("the Caddyfile of the quick start has another name")
	}
	look := name + "\t\tpages {\n\t\t\tcolor \"#0f766e\" \"#5eead4\"\n\t\t\tlinks {\n\t\t\t\thelp https://example.com/help\n\t\t\t\tprivacy /privacy\n\t\t\t\tterms /terms\n\t\t\t\tforgot /forgot\n\t\t\t}\n\t\t}\n"
	if err := os.WriteFile(file, []byte(strings.Replace(text, name, look, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := harness.Pictures(t, "docs")
	begun(t, e).browse(t, "pictures", "SHOTS="+dir)
	pictures, err := filepath.Glob(filepath.Join(dir, "pages-*.png"))
	if err != nil || len(pictures) != 3 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	for _, p := range pictures {
		if info, err := os.Stat(p); err != nil || info.Size() > 150<<10 {
			t.Errorf("%s is too large for a page of documentation: %v", p, err)
		}
	}
}
