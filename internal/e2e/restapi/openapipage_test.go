package restapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// hostile is what could break out of a page, as a title, a scope, or a schema's words.
const hostile = `</title></pre><script>document.body.remove()</script><img src=x onerror=alert(1)>"'{{.}}&lt;javascript:alert(1)`

// A person with a phone, one with a large screen, by day and by night, and one without a
// mouse. GATEHOUSE_SCREENSHOTS names a directory to keep the pictures in.
func TestDescriptionPageIsReadableInBrowsers(t *testing.T) {
	g := harness.Prepare(t, "$LEGACY", legacy(t))
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	g.WriteFile(t, "hostile.json", `{"description": `+string(quoted)+`, "properties": {`+string(quoted)+`: {"pattern": "^`+strings.Repeat("a", 300)+`$"}}}`)
	words := strings.Replace(sample, "links self delete", "links self delete\n\t\tbatch title state\n\t\tidempotency\n\t\tetag", 1)
	words += "\topenapi `" + hostile + "`\n\tresource hostile-names {\n\t\tschema $DIR/hostile.json\n\t\tlist {\n\t\t\tfilter a-parameter-whose-name-is-longer-than-any-telephone-is-wide\n\t\t}\n\t}\n"
	g.Start(t, strings.Replace(worded(words), "public * /open /open/*", "public GET /openapi.json /openapi", 1))
	dir := t.TempDir()
	if kept := os.Getenv("GATEHOUSE_SCREENSHOTS"); kept != "" {
		if dir, err = filepath.Abs(kept); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	harness.Node(t, 5*time.Minute, "openapipage.js", []string{"PAGE=" + g.API + "/openapi", "HOSTILE=" + hostile, "SHOTS=" + dir}, nil)
	if pictures, err := filepath.Glob(filepath.Join(dir, "openapi-*.png")); err != nil || len(pictures) != 5 {
		t.Errorf("%d pictures, %v", len(pictures), err)
	}
}
