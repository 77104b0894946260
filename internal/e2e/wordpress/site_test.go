package wordpress

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/plugins/directory/sql/sqltest"
)

// installed is where Debian's package puts WordPress.
const installed = "/usr/share/wordpress"

func TestMain(m *testing.M) {
	code := m.Run()
	sqltest.StopAll()
	os.Exit(code)
}

// site is WordPress with a database of its own.
type site struct {
	// addr is host:port, authorization what a request needs to write.
	addr, authorization string
	db                  *sqltest.Server
}

// newSite installs WordPress and serves it until the end of the test.
func newSite(t *testing.T) site {
	t.Helper()
	db, err := sqltest.MariaDB()
	if err != nil {
		t.Fatal(err)
	}
	where, err := mysql.ParseDSN(db.DSN())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("site")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(installed, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("these tests need WordPress, in Debian the package wordpress: %v", err)
	}
	for _, f := range files {
		if name := filepath.Base(f); name != "wp-config.php" {
			if err := os.Symlink(f, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	port := harness.FreePorts(t, 1)[0]
	s := site{addr: fmt.Sprintf("127.0.0.1:%d", port), db: db}
	env := append(os.Environ(), "WP_DB="+where.DBName, "WP_DB_USER="+where.User, "WP_DB_PASSWORD="+where.Passwd, "WP_DB_HOST="+where.Addr, "WP_ADDRESS=http://"+s.addr,
		fmt.Sprintf("WP_PREFIX=wp%d_", port)) // each site has tables of its own
	php := func(args ...string) *exec.Cmd {
		// The shell ends PHP when its standard input ends, which it does with this process,
		// however that ends.
		cmd := exec.Command("sh", append([]string{"-c", `php -d auto_prepend_file="$0" -d opcache.enable_cli=1 "$@" </dev/null & read -r _; kill -9 $! 2>/dev/null; wait`, filepath.Join(dir, "prepend.php")}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	install := exec.Command("php", "-d", "auto_prepend_file="+filepath.Join(dir, "prepend.php"), "setup.php")
	install.Dir, install.Env = dir, env
	var said bytes.Buffer
	install.Stderr = &said
	password, err := install.Output()
	if err != nil || !regexp.MustCompile(`^[0-9A-Za-z]{24}$`).Match(password) {
		t.Fatalf("installing WordPress: %v\n%s%s", err, password, said.String())
	}
	s.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte("gateway:"+string(password)))
	s.serve(t, php("-S", s.addr, "-t", dir))
	return s
}

// serve starts PHP's server, which answers one request after the other and so has no
// children, and waits until it answers.
func (s site) serve(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out := new(harness.Output)
	cmd.Stdout, cmd.Stderr = out, out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("PHP wrote:\n%s", out)
		}
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		res, err := http.Get("http://" + s.addr + "/index.php?rest_route=/wp/v2/posts")
		if err == nil {
			body, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
			err = fmt.Errorf("%s: %s", res.Status, body)
		}
		if time.Now().After(end) {
			t.Fatalf("WordPress does not answer: %v\n%s", err, out)
		}
	}
}

// raw asks WordPress itself.
func (s site) raw(t *testing.T, method, route string, form url.Values) harness.Page {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+s.addr+"/index.php?rest_route="+route, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", s.authorization)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return harness.Do(t, http.DefaultClient, r)
}
