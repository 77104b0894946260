package mediawiki

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// stand is the example, running.
type stand struct {
	*example.Example
	issuer, api string
}

func start(t *testing.T) *stand {
	t.Helper()
	e := example.Copy(t, "mediawiki")
	// In portions that a test reaches the end of.
	file := filepath.Join(e.Dir, "Caddyfile")
	text := strings.Replace(e.Read(t, "Caddyfile"), "aclimit=max", "aclimit=3", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e.Start(t)
	return &stand{e, e.At("http://localhost:8080"), e.At("http://localhost:8081")}
}

// client is a program with a secret.
func (s *stand) client(t *testing.T, id string) harness.RESTClient {
	t.Helper()
	return harness.NewRESTClient(t, s.issuer, s.api, harness.Credentials{ID: id, Secret: s.Secret(t, strings.ToUpper(id)+"_SECRET")})
}

// endSessions ends every session of the gateway's account, as the wiki's owner would.
func (s *stand) endSessions(t *testing.T) {
	t.Helper()
	cmd := exec.Command("php", "/usr/share/mediawiki/maintenance/invalidateUserSessions.php", "--user", "Gateway")
	cmd.Env = append(os.Environ(), "MW_CONFIG_FILE="+filepath.Join(s.Dir, "state", "LocalSettings.php"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestMediaWikiREADMEWorksLineByLine(t *testing.T) {
	s := start(t)
	example.Promised(t, s.Walk(t),
		`"missing":""`, "200", "missingparam", // before
		" 201", `"title":"Gewürze/Kümmel"`, `"text":"Carum carvi. [[Category:Gewürze]]"`, "Carum carvi, caraway", // a page's life
		`"title":"Gewürze/Kümmel"`, `"title":"Main Page"`, `"field":"page"`, `"total":1`, `"field":"q"`, // lists
		`"title":"Gewürze"`, `"total":1`, `"title":"Gewürze/Kümmel"`, // categories
		"not_found", "conflict", `"field":"text"`, "unauthorized", "insufficient_scope", "not_found", "204", "not_found", // errors
		`"openapi"`,
	)
	s.Private(t, "state/env", "state/state.db", "state/caddy.log", "state/LocalSettings.php")
	s.Unwritten(t, s.Secret(t, "EDITOR_SECRET"))
	s.Unwritten(t, s.Secret(t, "WIKI_PASSWORD"))
}

func TestRunReportsATakenPortAndEndsWithItsPrograms(t *testing.T) {
	e := example.Copy(t, "mediawiki")
	e.RefusesTakenPorts(t)
	e.EndsWithEachProgram(t)
}
