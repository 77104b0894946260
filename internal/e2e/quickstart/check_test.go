package quickstart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// checkout is a small repository with xcaddy.sh in it.
type checkout struct {
	t   *testing.T
	dir string
}

func newCheckout(t *testing.T, files map[string]string) *checkout {
	t.Helper()
	c := &checkout{t, t.TempDir()}
	for _, script := range []string{"xcaddy.sh", ".ci/check"} {
		text, err := os.ReadFile(filepath.Join("../../..", script))
		if err != nil {
			t.Fatal(err)
		}
		c.write(script, string(text))
	}
	for name, text := range files {
		c.write(name, text)
	}
	c.git("init", "-q", "-b", "main")
	c.commit()
	return c
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	harness.FailOn(c.t, harness.WriteProgram(filepath.Join(c.dir, name), []byte(text)))
}

func (c *checkout) git(args ...string) {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=tester", "-c", "user.email=tester@example.test"}, args...)...)
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (c *checkout) commit() {
	c.t.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "test")
}

// check runs ./xcaddy.sh check and returns what it printed and whether it succeeded.
func (c *checkout) check(packages ...string) (string, bool) {
	cmd := exec.Command("bash", append([]string{"xcaddy.sh", "check"}, packages...)...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (c *checkout) expect(succeeds bool, packages, has, hasNot []string) {
	c.t.Helper()
	out, ok := c.check(packages...)
	if ok != succeeds {
		c.t.Errorf("check %v: success is %v, want %v:\n%s", packages, ok, succeeds, out)
	}
	for _, text := range has {
		if !strings.Contains(out, text) {
			c.t.Errorf("check %v: no %q in:\n%s", packages, text, out)
		}
	}
	for _, text := range hasNot {
		if strings.Contains(out, text) {
			c.t.Errorf("check %v: %q in:\n%s", packages, text, out)
		}
	}
}

func TestCheckTestsChangedPackagesAndTheirImporters(t *testing.T) {
	const passes = "import \"testing\"\n\nfunc TestIt(t *testing.T) {}\n"
	c := newCheckout(t, map[string]string{
		"go.mod":                              "module example.test/m\n\ngo 1.26\n",
		".gitignore":                          "/.build/\n",
		"store/store.go":                      "package store\n\nconst Size = 1\n",
		"store/testdata/in.go":                "package in\n",
		"guard/guard.go":                      "package guard\n\nimport \"example.test/m/store\"\n\nconst Size = store.Size\n",
		"guard/it_test.go":                    "package guard\n\n" + passes,
		"tested/it_test.go":                   "package tested\n\nimport (\n\t\"testing\"\n\n\t\"example.test/m/guard\"\n)\n\nfunc TestIt(t *testing.T) { t.Log(guard.Size) }\n",
		"apart/apart.go":                      "package apart\n",
		"apart/it_test.go":                    "package apart\n\n" + passes,
		"module/suite/suite.go":               "package suite\n\nimport _ \"example.test/m/store\"\n",
		"module/suite/it_test.go":             "package suite\n\nimport (\n\t\"testing\"\n\n\t_ \"example.test/m/internal/testkit/harness\"\n)\n\nfunc TestIt(t *testing.T) { t.Fatal(\"a suite ran\") }\n",
		"internal/testkit/harness/harness.go": "package harness\n",
		"internal/arch/it_test.go":            "package arch\n\n" + passes,
	})
	c.expect(true, nil, []string{"nothing to check"}, nil)

	c.write("store/store.go", "package store\n\nconst Size = 2\n")
	c.expect(true, nil,
		[]string{"example.test/m/guard", "ok  \texample.test/m/tested", "example.test/m/internal/arch", "left to ./xcaddy.sh test:\x1b[0m module/suite\n"},
		[]string{"apart", "a suite ran"})

	// On a branch, what was committed counts too, and a file of testdata is its package's.
	c.git("checkout", "-q", "--", ".")
	c.git("checkout", "-q", "-b", "branch")
	c.write("store/testdata/in.go", "package in // changed\n")
	c.commit()
	c.write("tested/it_test.go", "package tested\n\nimport (\n\t\"testing\"\n\n\t\"example.test/m/guard\"\n)\n\nfunc TestIt(t *testing.T) { t.Fatal(\"the size is\", guard.Size) }\n")
	c.expect(false, nil, []string{"ok  \texample.test/m/guard", "the size is 1", "FAIL\texample.test/m/tested"}, []string{"apart"})

	// A named package takes the place of what changed.
	c.expect(true, []string{"./apart"}, []string{"ok  \texample.test/m/apart"}, []string{"guard"})

	c.write("apart/apart.go", "package  apart\n")
	c.expect(false, []string{"./apart"}, []string{"gofmt", "apart.go"}, []string{"ok  \t"})
	c.write("apart/apart.go", "package apart\n\nfunc dead() error { return nil; panic(1) }\n")
	c.expect(false, []string{"./apart"}, []string{"unreachable code"}, []string{"ok  \t"})
}
