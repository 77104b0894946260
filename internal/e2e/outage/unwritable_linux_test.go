package outage

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// onBolt is a site whose state is in a file.
const onBolt = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	gatehouse {
		issuer http://$ID
		store bolt $DIR/state.db
		scope read "Read"
		client machine {
			secret machine-secret-0123456789-0123456789-012345
			grants client_credentials
			scopes read
		}
		client web {
			public
			redirect_uri https://client.example/cb
			scopes read
		}
	}
}
http://$ID {
	gatehouse_health
	oauth_server
}
http://$API {
	gatehouse_health
	oauth_guard {
		scope read GET /read
	}
	respond "in"
}
`

// limitFiles lets no file of the process grow beyond size, as a full disk does: writing
// there is an error. unix.RLIM_INFINITY ends that.
func limitFiles(t *testing.T, p *harness.Process, size uint64) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Prlimit(p.PID(), unix.RLIMIT_FSIZE, nil, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(p.PID(), unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: old.Max}, nil); err != nil {
		t.Fatal(err)
	}
}

// push asks for what must be written: a pushed authorization request.
func push(t *testing.T, g *harness.Gateway) harness.Page {
	t.Helper()
	return harness.Send(t, http.DefaultClient, http.MethodPost, g.ID+"/par", url.Values{
		"client_id": {"web"}, "redirect_uri": {"https://client.example/cb"}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}.Encode())
}

// N12: nobody can sign in at a node with a full disk, and it says so. It is ready again
// when there is room.
func TestN12NodeWithAFullDiskIsNotReady(t *testing.T) {
	g := harness.Prepare(t)
	p := g.Run(t, onBolt)
	ready := func() harness.Page { return get(t, g.ID+"/ready") }
	eventually(t, http.StatusOK, ready)
	bearer := token(t, g)
	expect(t, push(t, g), http.StatusCreated)

	limitFiles(t, p, 0)
	if refused := expect(t, push(t, g), http.StatusServiceUnavailable); refused.Header.Get("Retry-After") == "" {
		t.Errorf("%v", refused.Header)
	}
	begun := time.Now()
	for _, address := range []string{g.ID + "/ready", g.API + "/ready"} {
		public := eventually(t, http.StatusServiceUnavailable, func() harness.Page { return get(t, address) })
		if !strings.Contains(public.Body, `"store":"failing"`) || strings.Contains(public.Body, g.Dir) {
			t.Errorf("%s: %s", address, public.Body)
		}
	}
	if took := time.Since(begun); took > 6*time.Second {
		t.Errorf("known after %v", took)
	}
	inside := expect(t, get(t, g.Admin+"/gatehouse/ready"), http.StatusServiceUnavailable)
	if state, message, _ := part(t, inside, "store"); state != "failing" || !strings.Contains(message, "cannot write") || !strings.Contains(message, "file too large") {
		t.Errorf("%s", inside.Body)
	}
	expect(t, get(t, g.ID+"/live"), http.StatusOK)
	expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK) // guards go on

	limitFiles(t, p, unix.RLIM_INFINITY)
	eventually(t, http.StatusOK, ready)
	expect(t, push(t, g), http.StatusCreated)
}

// N12: nobody asks for anything but readiness, and the full disk is found all the same.
func TestN12FullDiskIsDetectedWithoutRequests(t *testing.T) {
	g := harness.Prepare(t)
	p := g.Run(t, onBolt)
	eventually(t, http.StatusOK, func() harness.Page { return get(t, g.API+"/ready") })
	limitFiles(t, p, 0)
	for begun := time.Now(); get(t, g.API+"/ready").Status == http.StatusOK; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("it is ready after 20 seconds")
		}
	}
}

// N12: records can still be read, and writes come upon damaged pages.
func TestN12NodeWithDamagedPagesIsNotReady(t *testing.T) {
	g := harness.Prepare(t)
	g.Run(t, onBolt)
	ready := func() harness.Page { return get(t, g.ID+"/ready") }
	eventually(t, http.StatusOK, ready)
	for range 25 {
		expect(t, push(t, g), http.StatusCreated)
	}
	damageIndex(t, filepath.Join(g.Dir, "state.db"))
	if refused := push(t, g); refused.Status != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", refused.Status, refused.Header, refused.Body)
	}
	eventually(t, http.StatusServiceUnavailable, ready)
	if state, message, _ := part(t, get(t, g.Admin+"/gatehouse/ready"), "store"); state != "failing" || !strings.Contains(message, "state.db") {
		t.Errorf("%s: %s", state, message)
	}
	expect(t, get(t, g.ID+"/live"), http.StatusOK)
}

// damageIndex overwrites the pages with the moments at which records expire: every write
// needs them, and no read.
func damageIndex(t *testing.T, path string) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db") // the gateway holds the file's lock
	if err := os.WriteFile(copied, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(copied, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var root int64
	err = db.View(func(tx *bbolt.Tx) error {
		if b := tx.Bucket([]byte("expiry")); b != nil {
			root = int64(b.Root()) //nolint:gosec // a page of a small file
		}
		return nil
	})
	if err != nil || root == 0 {
		t.Fatalf("the page is %d: %v", root, err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		page := int64(db.Info().PageSize)
		_, err = file.WriteAt(bytes.Repeat([]byte{0xa5}, int(page)), root*page)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// N12: a state file that lost its content is not replaced by an empty one at the start.
func TestN12EmptyStateFileBesideItsSecretIsRefused(t *testing.T) {
	g := harness.Prepare(t)
	p := g.Run(t, onBolt)
	eventually(t, http.StatusOK, func() harness.Page { return get(t, g.ID+"/ready") })
	p.Kill()
	path := filepath.Join(g.Dir, "state.db")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	out := refusedStart(t, g)
	for _, part := range []string{path + " is empty", "state.db.secret", "restore both files from one backup", "remove both to start"} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("it was changed: %v %v", info, err)
	}
	for _, name := range []string{path, path + ".secret"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	g.Run(t, onBolt)
	eventually(t, http.StatusOK, func() harness.Page { return get(t, g.ID+"/ready") })
}

// refusedStart is what the program says that does not start with the gateway's Caddyfile.
func refusedStart(t *testing.T, g *harness.Gateway) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Program(t), "run", "--config", filepath.Join(g.Dir, "Caddyfile"), "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+g.Dir, "XDG_CONFIG_HOME="+g.Dir)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("it starts:\n%s", out)
	}
	return string(out)
}
