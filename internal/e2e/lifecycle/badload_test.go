package lifecycle

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// O02: while configurations fail to load, at every stage at which they can, nobody who
// asks the old one notices anything. (E19 does it with good ones between, for longer.)
func TestFailingConfigLosesNoRequest(t *testing.T) {
	g, _ := prepare(t)
	g.Start(t, with("$MAX", "1000000"))
	bearer := token(t, g)
	var asked, failed atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	ask := func(request func() int) {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if asked.Add(1); request() != http.StatusOK {
					failed.Add(1)
				}
			}
		})
	}
	ask(func() int { return g.Call(t, http.MethodGet, "/a", bearer).Status })
	ask(func() int {
		return g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).Status
	})
	for name, bad := range map[string]string{
		"a word that nobody knows":    with("$GLOBAL", "whatever"),
		"a client without a secret":   with("$GLOBAL", "client late {\n\t\t\tscopes read\n\t\t}"),
		"a secret that is not set":    with("$GLOBAL", "client late {\n\t\t\tsecret {env.GATEHOUSE_TEST_UNSET}\n\t\t}"),
		"users that are not there":    with("$GLOBAL", "users file $DIR/missing.json"),
		"another store, and a fault":  with("$STORE", "second.db", "$SITE", "test_broken"),
		"a handler that fails late":   with("$SITE", "test_broken"),
		"a store that cannot be made": strings.Replace(with(), "store bolt $DIR/state.db", "store broken", 1),
		"a site that cannot listen":   with() + "\nhttp://localhost:1 {\n\tbind 192.0.2.1\n\trespond x\n}\n",
	} {
		for range 2 {
			if err := g.TryLoad(bad); err == nil {
				t.Errorf("O02 %s was loaded", name)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	close(stop)
	all.Wait()
	if failed.Load() != 0 || asked.Load() < 50 {
		t.Errorf("O02 %d of %d requests failed", failed.Load(), asked.Load())
	}
	if exists(filepath.Join(g.Dir, "second.db")) {
		// Opened before the fault; what it must not do is stay open.
		g.Load(t, with("$STORE", "second.db"))
		token(t, g)
	}
}

// O06: what a running gateway leaves on the disk is for its own user.
func TestO06FilesBelongToTheGatewaysUserOnly(t *testing.T) {
	g, _ := prepare(t)
	g.Start(t, strings.ReplaceAll(with("$STORE", "made/here/state.db"), "issuer http://$ID", "issuer http://$ID\n\t\tusers store"))
	token(t, g)
	looked := 0
	err := filepath.WalkDir(filepath.Join(g.Dir, "made"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		looked++
		if open := info.Mode().Perm() &^ 0o700; open != 0 || !d.IsDir() && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %o", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil || looked < 4 { // two directories, the database, the secret
		t.Errorf("%d looked at: %v", looked, err)
	}
}

// Apps start in no fixed order: of several loads that fail, the gateway has started in some.
func TestConfigThatFailsLateChangesNothing(t *testing.T) {
	g, _ := prepare(t)
	g.Start(t, with())
	bearer := token(t, g)
	sizes := func() [2]float64 {
		return [...]float64{g.Metric(t, "caddy_gatehouse_limiter_memory_max_bytes"), g.Metric(t, "caddy_gatehouse_token_cache_max_bytes")}
	}
	before := sizes()
	bad := with("$GLOBAL", "limiter memory {\n\t\t\tsize 2MiB\n\t\t}\n\t\ttoken_cache 2MiB") + "\nhttp://localhost:1 {\n\tbind 192.0.2.1\n\trespond x\n}\n"
	bad = strings.Replace(bad, "client machine {", "client another {", 1)
	for range 8 {
		if g.TryLoad(bad) == nil {
			t.Fatal("it was loaded")
		}
	}
	if p := g.Call(t, http.MethodGet, "/a", bearer); p.Status != http.StatusOK {
		t.Errorf("a token of a client that only a rejected configuration lacks: %d %s", p.Status, p.Body)
	}
	if after := sizes(); after != before || before[0] == 0 || before[1] == 0 {
		t.Errorf("sizes were %v and are %v", before, after)
	}
}
