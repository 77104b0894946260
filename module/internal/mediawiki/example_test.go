package mediawiki

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/example"
	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// stand is the example, running.
type stand struct {
	*example.Example
	issuer, api string
}

func start(t *testing.T) *stand {
	t.Helper()
	e := example.Start(t, "mediawiki")
	return &stand{e, e.At("http://localhost:8080"), e.At("http://localhost:8081")}
}

// client is a program with a secret.
func (s *stand) client(t *testing.T, id string) harness.RESTClient {
	t.Helper()
	return harness.NewRESTClient(t, s.issuer, s.api, harness.Credentials{ID: id, Secret: s.Secret(t, strings.ToUpper(id)+"_SECRET")})
}

type page struct {
	ID    json.Number
	Title string
	Text  string
}

func TestMediaWikiHasARESTInterface(t *testing.T) {
	s := start(t)
	reader := s.client(t, "reader")
	t.Run("a page by its id", func(t *testing.T) {
		if p := harness.ReadJSON[page](t, reader.Do(t, "GET", "/pages/1", ""), 200); p.ID != "1" || p.Title != "Main Page" {
			t.Errorf("%+v", p)
		}
		harness.WantError(t, reader.Do(t, "GET", "/pages/99", ""), 404, "not_found", "")
	})
	t.Run("a page by its title", func(t *testing.T) {
		if p := harness.ReadJSON[page](t, reader.Do(t, "GET", "/titles/Main%20Page", ""), 200); p.ID != "1" {
			t.Errorf("%+v", p)
		}
		harness.WantError(t, reader.Do(t, "GET", "/titles/Stra%C3%9Fe%2F1", ""), 404, "not_found", "")
	})
}

func TestTheREADMEWorksLineByLine(t *testing.T) {
	s := start(t)
	example.Promised(t, s.Walk(t),
		`"missing":""`, "200", // before
		`"id":1`, `"title":"Main Page"`, "not_found", // reading
	)
	s.Private(t, "state/env", "state/state.db", "state/caddy.log", "state/LocalSettings.php")
	s.Unwritten(t, s.Secret(t, "EDITOR_SECRET"))
	s.Unwritten(t, s.Secret(t, "WIKI_PASSWORD"))
}

func TestRunNamesAPortThatIsTakenAndEndsWithItsPrograms(t *testing.T) {
	e := example.Copy(t, "mediawiki")
	e.RefusesTakenPorts(t)
	e.EndsWithEachProgram(t)
}
