package cli

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// runSite runs the site in a process of its own, and returns how to run it again.
func runSite(t *testing.T, more ...string) (g *harness.Gateway, p *harness.Process, again func() *harness.Process) {
	t.Helper()
	up := harness.NewUpstream(t)
	g = harness.Prepare(t, append(more, "$UPSTREAM", up.Addr, "$GLOBAL", "", "$GUARD", "")...)
	again = func() *harness.Process { return g.Run(t, site) }
	return g, again(), again
}

// offline runs a command about the gateway's files.
func offline(t *testing.T, g *harness.Gateway, words ...string) result {
	t.Helper()
	return program(t, "", append([]string{"gatehouse"}, append(words, "--config", g.WriteFile(t, "Caddyfile", g.Text(site)))...)...)
}

func mode(t *testing.T, name string) os.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	harness.FailOn(t, err)
	return info.Mode().Perm()
}

func contents(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	harness.FailOn(t, err)
	return b
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	harness.FailOn(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestRestoreBringsBackTheBackedUpState(t *testing.T) {
	g, p, again := runSite(t)
	addUser(t, g)
	b := harness.NewBrowser(t, g.ID)
	access, first := granted(t, g, b, "alice")
	dir := t.TempDir()
	file := filepath.Join(dir, "state.backup")
	r := command(t, g, "", "backup", file)
	if r.code != 0 || !strings.Contains(r.out, "Backed up") || !strings.Contains(r.out, file+".secret") || r.err != "" {
		t.Fatalf("%+v", r)
	}
	secret := contents(t, g.Dir+"/state.db.secret")
	if mode(t, file) != 0o600 || mode(t, file+".secret") != 0o600 || !bytes.Equal(contents(t, file+".secret"), secret) {
		t.Error("the modes or the secret are wrong")
	}
	if bytes.Contains(contents(t, file), secret) || strings.Contains(r.out, string(secret)) {
		t.Error("the secret is in the backup")
	}
	if left := names(t, dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
	if left := names(t, g.Dir); strings.Contains(strings.Join(left, " "), "snapshot") {
		t.Errorf("left behind: %v", left)
	}
	if r := command(t, g, "", "backup", file); r.code != 1 || !strings.Contains(r.err, "exists and is not overwritten") {
		t.Errorf("a second backup into the same file: %+v", r)
	}

	// What comes after the backup does not come back.
	if s := g.Call(t, "GET", "/read", access).Status; s != http.StatusOK {
		t.Fatalf("the access token: %d", s)
	}
	done(t, g, password+"\n", "user", "add", "bob")
	done(t, g, "", "grant", "revoke", "alice", "--all")
	if refresh(t, g, first) != http.StatusBadRequest || signedIn(t, g, b) {
		t.Fatal("the revocation has no effect")
	}
	if r := offline(t, g, "restore", file); r.code != 1 || !strings.Contains(r.err, "stop it first") {
		t.Errorf("with a running gateway: %+v", r)
	}
	p.Stop()
	r = offline(t, g, "restore", file)
	if r.code != 0 || !strings.Contains(r.out, "counts again") || !strings.Contains(r.out, "state.db.before-") || strings.Contains(r.out, "No state was there") {
		t.Fatalf("%+v", r)
	}
	p = again()
	if !signedIn(t, g, b) || command(t, g, "", "user", "show", "bob").code != 4 {
		t.Error("the state is not that of the backup")
	}
	// Documented: what was revoked after the backup counts again.
	if s := g.Call(t, "GET", "/read", access).Status; s != http.StatusOK {
		t.Errorf("the access token: %d", s)
	}
	if s := refresh(t, g, first); s != http.StatusOK {
		t.Errorf("the refresh token: %d", s)
	}
	p.Stop()

	r = offline(t, g, "restore", file, "--end-sessions")
	if r.code != 0 || !strings.Contains(r.out, "Everybody signs in again") {
		t.Fatalf("%+v", r)
	}
	again()
	if s := g.Call(t, "GET", "/read", access).Status; s != http.StatusUnauthorized {
		t.Errorf("with --end-sessions the access token: %d", s)
	}
	if s := refresh(t, g, first); s != http.StatusBadRequest {
		t.Errorf("with --end-sessions the refresh token: %d", s)
	}
	if signedIn(t, g, b) {
		t.Error("with --end-sessions the session goes on")
	}
	granted(t, g, harness.NewBrowser(t, g.ID), "alice")
}

// The commands of the page, as they stand there.
func TestBackupCommandsOfTheOperationsPageWork(t *testing.T) {
	g, p, again := runSite(t)
	addUser(t, g)
	g.WriteFile(t, "Caddyfile", g.Text(site))
	paths := strings.NewReplacer("/var/backups/", t.TempDir()+"/", "/root/", t.TempDir()+"/", "/etc/gatehouse/", g.Dir+"/")
	ran := 0
	for line := range strings.Lines(harness.PageLines(t, "deploy/README.md", "Backup and restore", "console", 1)) {
		words := strings.Fields(paths.Replace(strings.TrimPrefix(line, "$ ")))
		switch strings.Join(words[:2], " ") {
		case "systemctl stop":
			p.Stop()
		case "systemctl start":
			p = again()
		case "caddy gatehouse":
			if words[2] == "backup" {
				words = append(words, "--address", strings.TrimPrefix(g.Admin, "http://"))
			}
			if r := program(t, "", words[1:]...); r.code != 0 {
				t.Fatalf("%s: %+v", line, r)
			}
			ran++
		}
	}
	if ran != 2 || command(t, g, "", "user", "show", "alice").code != 0 {
		t.Errorf("%d commands ran", ran)
	}
}

func TestBackupSecretIsWrittenWhereSpecified(t *testing.T) {
	g, p, again := runSite(t)
	addUser(t, g)
	granted(t, g, harness.NewBrowser(t, g.ID), "alice") // makes signing keys, which tell one secret from another
	dir := t.TempDir()
	first, second, third, secret := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3"), filepath.Join(dir, "kept apart")
	done(t, g, "", "backup", first, "--secret", secret)
	if out := done(t, g, "", "backup", second, "--secret", secret); !strings.Contains(out, "already") {
		t.Errorf("the same secret again: %s", out)
	}
	if out := done(t, g, "", "backup", third, "--no-secret"); !strings.Contains(out, "was not copied") {
		t.Error(out)
	}
	if got := names(t, dir); len(got) != 4 {
		t.Errorf("%v", got)
	}
	if r := command(t, g, "", "backup", filepath.Join(dir, "4"), "--secret", first); r.code != 1 || !isGone(filepath.Join(dir, "4")) {
		t.Errorf("another file in the place of the secret: %+v", r)
	}
	if r := command(t, g, "", "backup", filepath.Join(dir, "4"), "--secret", dir+"/../"+filepath.Base(dir)+"/4"); r.code != 1 || !strings.Contains(r.err, "name another") || !isGone(filepath.Join(dir, "4")) {
		t.Errorf("the backup in the place of the secret: %+v", r)
	}
	p.Stop()

	// On another machine there is neither the state nor the secret.
	here := contents(t, g.Dir+"/state.db.secret")
	harness.FailOn(t, os.Remove(g.Dir+"/state.db"))
	harness.FailOn(t, os.Remove(g.Dir+"/state.db.secret"))
	if r := offline(t, g, "restore", third); r.code != 1 || !strings.Contains(r.err, "--secret") {
		t.Errorf("without the secret: %+v", r)
	}
	wrong := g.WriteFile(t, "wrong", strings.Repeat("x", 43))
	if r := offline(t, g, "restore", third, "--secret", wrong); r.code != 1 || !strings.Contains(r.err, "encrypted with another one") {
		t.Errorf("with another secret: %+v", r)
	}
	if !isGone(g.Dir+"/state.db") || !isGone(g.Dir+"/state.db.secret") {
		t.Error("a refused restore has changed something")
	}
	if r := offline(t, g, "restore", third, "--secret", secret); r.code != 0 || !strings.Contains(r.out, "No state was there before. If the gateway had one, it is elsewhere") {
		t.Fatalf("%+v", r)
	}
	if !bytes.Equal(contents(t, g.Dir+"/state.db.secret"), here) || mode(t, g.Dir+"/state.db.secret") != 0o600 || mode(t, g.Dir+"/state.db") != 0o600 {
		t.Error("the secret is not where the gateway looks for it, or the modes are wrong")
	}
	again()
	granted(t, g, harness.NewBrowser(t, g.ID), "alice")
}

func isGone(name string) bool {
	_, err := os.Lstat(name)
	return os.IsNotExist(err)
}

func TestBackupOmitsAConfiguredSecret(t *testing.T) {
	t.Setenv("BACKUP_SECRET", strings.Repeat("configured", 5))
	g, p, _ := runSite(t, "$GLOBAL", "secret {env.BACKUP_SECRET}")
	addUser(t, g)
	granted(t, g, harness.NewBrowser(t, g.ID), "alice")
	file := filepath.Join(t.TempDir(), "b")
	if out := done(t, g, "", "backup", file); !strings.Contains(out, "`secret` of the configuration") || !isGone(file+".secret") {
		t.Error(out)
	}
	p.Stop()
	t.Setenv("BACKUP_SECRET", strings.Repeat("changed...", 5))
	if r := offline(t, g, "restore", file); r.code != 1 || !strings.Contains(r.err, "encrypted with another one") || strings.Contains(r.err, "changed...") {
		t.Errorf("with another secret configured: %+v", r)
	}
	t.Setenv("BACKUP_SECRET", strings.Repeat("configured", 5))
	if r := offline(t, g, "restore", file); r.code != 0 {
		t.Errorf("%+v", r)
	}
}

func TestInvalidBackupIsNotRestored(t *testing.T) {
	g, p, _ := runSite(t)
	addUser(t, g)
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	done(t, g, "", "backup", good)
	p.Stop()
	before := contents(t, g.Dir+"/state.db")
	whole := contents(t, good)
	damaged := bytes.Clone(whole)
	for i := 2 * os.Getpagesize(); i < len(damaged); i++ {
		damaged[i] ^= 0x55
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"empty":            {nil, "empty"},
		"cut off":          {whole[:len(whole)-os.Getpagesize()], ""},
		"cut off early":    {whole[:os.Getpagesize()/2], "no state file"},
		"another file":     {[]byte(strings.Repeat("text", 10_000)), "no state file"},
		"damaged contents": {damaged, ""},
	} {
		file := filepath.Join(dir, "bad")
		harness.FailOn(t, os.WriteFile(file, c.content, 0o600))
		if r := offline(t, g, "restore", file, "--secret", good+".secret"); r.code != 1 || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "goroutine") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := offline(t, g, "restore", g.Dir+"/state.db"); r.code != 1 || !strings.Contains(r.err, "the state file itself") {
		t.Errorf("the state file: %+v", r)
	}
	if r := offline(t, g, "restore", filepath.Join(dir, "none")); r.code != 1 || !strings.Contains(r.err, "no such file") {
		t.Errorf("no file: %+v", r)
	}
	if !bytes.Equal(contents(t, g.Dir+"/state.db"), before) {
		t.Error("the state has changed")
	}
}

// What is cut off on its way must not look like a backup.
func TestInterruptedBackupLeavesNoFile(t *testing.T) {
	g := start(t)
	addUser(t, g)
	dir := t.TempDir()
	for _, allowed := range []int64{0, 100, 5_000, 20_000} {
		address, reached := cuttingProxy(t, strings.TrimPrefix(g.Admin, "http://"), allowed)
		r := program(t, "", "gatehouse", "backup", filepath.Join(dir, "b"), "--address", address)
		if r.code == 0 || r.out != "" || !reached.Load() {
			t.Errorf("cut off after %d bytes: %+v", allowed, r)
		}
		if left := names(t, dir); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	done(t, g, "", "backup", filepath.Join(dir, "b"))
}

// cuttingProxy passes that many bytes of each response on.
func cuttingProxy(t *testing.T, target string, allowed int64) (address string, reached *atomic.Bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	harness.FailOn(t, err)
	t.Cleanup(func() { _ = l.Close() })
	reached = new(atomic.Bool)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = in.Close() }()
				out, err := net.Dial("tcp", target)
				if err != nil {
					return
				}
				defer func() { _ = out.Close() }()
				go func() { _, _ = io.Copy(out, rewriteHost(in, l.Addr().String(), target)) }()
				_, _ = io.CopyN(in, out, allowed)
				reached.Store(true)
			}()
		}
	}()
	return l.Addr().String(), reached
}

// rewriteHost has the endpoint see its own address, which it insists on.
func rewriteHost(in io.Reader, from, to string) io.Reader {
	buf := make([]byte, 4096)
	n, _ := in.Read(buf)
	return strings.NewReader(strings.ReplaceAll(string(buf[:n]), from, to))
}

func TestBackupShowsProgressOnATerminal(t *testing.T) {
	g := start(t)
	addUser(t, g)
	master, slave := terminal(t)
	cmd := exec.Command(harness.Program(t), append([]string{"gatehouse"}, at(g, []string{"backup", filepath.Join(t.TempDir(), "b")})...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	harness.FailOn(t, cmd.Start())
	screen := make(chan string, 1)
	go func() {
		var all strings.Builder
		buf := make([]byte, 4096)
		for !strings.Contains(all.String(), "Keep the two apart") {
			n, err := master.Read(buf)
			if err != nil {
				break
			}
			all.Write(buf[:n])
		}
		screen <- all.String()
	}()
	harness.FailOn(t, cmd.Wait())
	select {
	case shown := <-screen:
		if !strings.Contains(shown, "\r[---") || !strings.Contains(shown, "Copying: 0 bytes of ") || !strings.Contains(shown, "Checking: ") {
			t.Errorf("%q", shown)
		}
	case <-time.After(20 * time.Second):
		t.Error("the terminal shows no result")
	}
}
