package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const ownPath = "example.test/owner/project"

// newCheckout makes a repository with a module, one file that is not committed, one that is
// deleted, and one that git ignores.
func newCheckout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write("go.mod", "module "+ownPath+"\n\ngo 1.26.0\n")
	write("inner/inner.go", "package inner\n")
	write("deleted.go", "package project\n")
	write(".gitignore", "ignored.go\n")
	git("init", "-q")
	git("add", ".")
	if err := os.Remove(filepath.Join(dir, "deleted.go")); err != nil {
		t.Fatal(err)
	}
	write("ignored.go", "package project\n")
	write("untracked.go", "package project\n")
	return dir
}

// serve starts a proxy for the checkout in dir.
func serve(t *testing.T, dir string, upstreams ...string) string {
	t.Helper()
	own, err := openCheckout(dir)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&proxy{own: own, upstreams: upstreams})
	t.Cleanup(server.Close)
	return server.URL
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestGoCommandDownloadsTheCheckout(t *testing.T) {
	dir := newCheckout(t)
	checkDownload(t, dir, map[string]bool{"go.mod": true, "inner/inner.go": true, "untracked.go": true, "deleted.go": false, "ignored.go": false})
}

// A container is built without the repository, and an archive has none.
func TestProxyServesACheckoutWithoutGit(t *testing.T) {
	dir := newCheckout(t)
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".hidden"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".hidden", "hidden.go"), []byte("package hidden\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	checkDownload(t, dir, map[string]bool{"go.mod": true, "inner/inner.go": true, "untracked.go": true, ".gitignore": false, ".hidden/hidden.go": false})
}

// checkDownload has the go command get the checkout in dir, and looks for files in what it got. The version must change
// with the content.
func checkDownload(t *testing.T, dir string, files map[string]bool) {
	t.Helper()
	user := t.TempDir()
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = user
		cmd.Env = append(os.Environ(), "GOPROXY="+serve(t, dir), "GONOSUMDB="+ownPath, "GOFLAGS=-modcacherw", "GOMODCACHE="+filepath.Join(user, "cache"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	command("mod", "init", "example.test/user")
	command("get", ownPath+"/inner") // asks for the module .../inner first
	downloaded := command("list", "-m", "-f", "{{.Dir}}", ownPath)
	for name, want := range files {
		if _, err := os.Stat(filepath.Join(downloaded, name)); (err == nil) != want {
			t.Errorf("%s in the module: %v, want it there: %v", name, err, want)
		}
	}

	before := command("list", "-m", "-f", "{{.Version}}", ownPath+"@latest")
	if err := os.WriteFile(filepath.Join(dir, "untracked.go"), []byte("package project // changed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if after := command("list", "-m", "-f", "{{.Version}}", ownPath+"@latest"); after == before {
		t.Errorf("version %s before and after a change", after)
	}
}

func TestOtherModulesComeFromConfiguredProxies(t *testing.T) {
	var asked []string
	upstream := func(name string, status int) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, name+" "+r.URL.EscapedPath())
			w.WriteHeader(status)
			_, _ = io.WriteString(w, name)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "in.test/folder/@v"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "in.test/folder/@v/list"), []byte("v1.0.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	url := serve(t, newCheckout(t), "file://"+folder, upstream("empty", 404), upstream("refusing", 403), upstream("last", 200))
	for _, c := range []struct {
		path   string
		status int
		body   string
		asked  string
	}{
		{"/in.test/folder/@v/list", 200, "v1.0.0\n", ""},
		{"/other.test/!mixed/@v/v1.0.0.zip", 403, "refusing", "empty /other.test/!mixed/@v/v1.0.0.zip,refusing /other.test/!mixed/@v/v1.0.0.zip"},
		{"/sumdb/sum.golang.org/supported", 403, "refusing", "empty /sumdb/sum.golang.org/supported,refusing /sumdb/sum.golang.org/supported"},
		{"/" + ownPath + "/inner/@v/list", 404, "not found: " + ownPath + "/inner is no module\n", ""},
		{"/example.test/owner/@latest", 404, "not found: example.test/owner is no module\n", ""},
		{"/" + ownPath + "/@v/v9.0.0.info", 404, "", ""},
	} {
		asked = nil
		status, body := get(t, url+c.path)
		if status != c.status || c.body != "" && body != c.body || strings.Join(asked, ",") != c.asked {
			t.Errorf("%s: %d %q, asked %q; want %d %q, asked %q", c.path, status, body, asked, c.status, c.body, c.asked)
		}
	}
}

func TestUpstreams(t *testing.T) {
	for goproxy, want := range map[string]string{
		"https://proxy.golang.org,direct":      "https://proxy.golang.org",
		"https://a.test/|https://b.test, off":  "https://a.test https://b.test",
		"direct":                               "",
		"off":                                  "",
		"https://a.test,direct,https://b.test": "https://a.test",
	} {
		if got := strings.Join(upstreams(goproxy), " "); got != want {
			t.Errorf("%s: %q, want %q", goproxy, got, want)
		}
	}
}
