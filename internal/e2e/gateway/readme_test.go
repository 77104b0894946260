package gateway

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestREADMEFilterKeepsCodesOutOfCaddysLogs(t *testing.T) {
	filter := regexp.MustCompile(`(?s)\t\tformat filter \{\n.*?\n\t\t\}\n`).FindString(readme(t))
	if filter == "" {
		t.Fatal("the README has no filter")
	}
	text := strings.Replace(site, "http://$ID {\n", "http://$ID {\n\tlog {\n\t\toutput file $DIR/id.log\n"+filter+"\t}\n\tredir /old* https://id.example/authorize{http.request.uri.path}?code=code-canary-2\n", 1)
	g, _ := startSite(t, text)
	r, err := http.NewRequest(http.MethodGet, g.ID+"/old?code=code-canary-0&x=code-canary-1%zz", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Referer", "https://client.example/cb?code=code-canary-3")
	p := harness.Do(t, harness.NewBrowser(t, "").Client, r)
	if p.Status != http.StatusFound {
		t.Fatalf("%d", p.Status)
	}
	harness.Get(t, g.ID+"/authorize?code=code-canary-4")
	all := lines(t, g, "id.log", 2)
	if field(all[0], "request", "uri") != "/old?REDACTED" || field(all[1], "request", "uri") != "/authorize?REDACTED" {
		t.Errorf("%v", all)
	}
	if raw, err := os.ReadFile(filepath.Join(g.Dir, "id.log")); err != nil || strings.Contains(string(raw), "canary") {
		t.Errorf("%v %s", err, raw)
	}
}
