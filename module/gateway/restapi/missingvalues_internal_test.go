package restapi

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func TestMissingValuesAreLoggedWithOptionAndPlaceholder(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_SET", "s3cret")
	t.Setenv("GATEHOUSE_TEST_EMPTY", "")
	dir := t.TempDir()
	there, empty := filepath.Join(dir, "there"), filepath.Join(dir, "empty")
	for file, text := range map[string]string{there: "s3cret", empty: ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fixed := func(name, value string) []resource.Fixed { return []resource.Fixed{{Name: name, Value: value}} }
	account := func(name, value string) *login.Config {
		return &login.Config{Steps: []login.Step{{Send: []login.Value{{Name: name, Value: value}}}}}
	}
	var out bytes.Buffer
	h := &REST{
		Fixed: append(fixed("a", "{env.GATEHOUSE_TEST_SET}"), fixed("b", "Basic {env.GATEHOUSE_TEST_UNSET} {env.GATEHOUSE_TEST_SET}")...),
		Resources: []resource.Resource{{Path: "x", Fixed: fixed("c", "{file."+there+"}"), Nested: []resource.Resource{
			{Path: "y", Fixed: fixed("d", "{file."+dir+"/none}")},
		}}, {Path: "z", Fixed: fixed("e", "{http.auth.user.id}")}},
		Login: account("f", "{file."+empty+"}"),
		Versions: []Version{
			{Resources: []resource.Resource{{Path: "x", Fixed: fixed("g", "{env.GATEHOUSE_TEST_EMPTY}")}}, Login: account("h", "{env.GATEHOUSE_TEST_UNSET}")},
			{Login: account("h", "{env.GATEHOUSE_TEST_UNSET}")},
		},
		log: slog.New(slog.NewTextHandler(&out, nil)),
	}
	h.warnOfMissingValues()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, want := range []string{
		`word="send fixed b" placeholder={env.GATEHOUSE_TEST_UNSET} expected="an environment variable`,
		`word="send fixed d" placeholder={file.` + dir + `/none} expected="a readable file`,
		`word="login f" placeholder={file.` + empty + `} expected="a readable file`,
		`word="send fixed g" placeholder={env.GATEHOUSE_TEST_EMPTY}`,
		`word="login h" placeholder={env.GATEHOUSE_TEST_UNSET}`,
	} {
		if n := strings.Count(out.String(), want); n != 1 {
			t.Errorf("%d lines have %s", n, want)
		}
	}
	if len(lines) != 5 || strings.Contains(out.String(), "s3cret") {
		t.Errorf("want 5 warnings without a value, got\n%s", &out)
	}
}
