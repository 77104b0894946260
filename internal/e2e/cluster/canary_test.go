package cluster

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
)

// E18: neither what Redis holds in the end, nor anything that was ever written to it, nor
// what the nodes log at DEBUG has a secret in it. What is looked at are a dump and the
// append-only file, which has every write.
func TestRedisAndLogsHoldNoSecret(t *testing.T) {
	c := new(harness.Canaries)
	redisPassword := c.Plant(t, "the password of Redis", "redis-"+gatewaytest.Token())
	t.Setenv("REDIS_PASSWORD", redisPassword)
	t.Setenv("REDISCLI_AUTH", redisPassword)
	s := redistest.Start(t, "--requirepass", redisPassword, "--appendonly", "yes", "--aof-use-rdb-preamble", "no", "--rdbcompression", "no")
	cl := start(t, plan{
		redis: s, tokens: "refresh_grace 0s",
		change: []string{
			"store redis $REDIS", "store redis redis://:{env.REDIS_PASSWORD}@" + s.Addr + "/0",
			"level ERROR", "level DEBUG\n\t\toutput file $DIR/debug.log", "scopes read\n", "scopes openid read\n",
		},
	})
	for name, value := range map[string]string{
		"the gateway's secret": masterSecret, "a client's secret": web.Secret, "another client's secret": machine.Secret, "a password": password,
	} {
		c.Plant(t, name, value)
	}

	v := cl.visitor(t, cl.nodes[0])
	wrong := c.Plant(t, "a wrong password", "wrong-"+gatewaytest.ID())
	v.Submit(follow(t, v, cl.authorizeURL()), url.Values{"username": {username}, "password": {wrong}})
	var families []family
	for i, n := range cl.nodes {
		v.at = n
		back := v.Authorize(cl.authorizeURL()+"&nonce=n", username, password)
		code := c.Plant(t, "a code", back.Query().Get("code"))
		other := cl.nodes[(i+1)%nodesOfCluster]
		a, err := cl.exchange(other, code)
		if err != nil || a.status != http.StatusOK {
			t.Fatal(a, err)
		}
		f := family{c.Plant(t, "an access token", a.field("access_token")), c.Plant(t, "a refresh token", a.field("refresh_token"))}
		if a, err = cl.refresh(n, f.refresh); err != nil || a.status != http.StatusOK {
			t.Fatal(a, err)
		}
		c.Plant(t, "an access token", a.field("access_token"))
		c.Plant(t, "a refresh token", a.field("refresh_token"))
		families = append(families, f)
		if _, err := other.read(f.access); err != nil {
			t.Fatal(err)
		}
	}
	for _, cookie := range v.Client.Jar.Cookies(must(t, cl.issuer)) {
		c.Plant(t, "a cookie", cookie.Value)
	}
	// A replay, a revocation of either kind, a token that is none.
	_, _ = cl.refresh(cl.nodes[0], families[0].refresh)
	_, _ = cl.revoke(cl.nodes[1], web, families[1].access)
	_, _ = cl.revoke(cl.nodes[1], web, families[2].refresh)
	access := c.Plant(t, "an access token", cl.machineToken(t, cl.nodes[2]))
	_, _ = cl.revoke(cl.nodes[0], machine, access)
	_, _ = cl.nodes[0].read(families[0].access)

	var outputs []string
	for _, n := range cl.nodes {
		_, config := harness.Get(t, n.Admin+"/config/")
		outputs = append(outputs, n.Scrape(t), config)
	}
	s.CLI("save")
	for _, n := range cl.nodes {
		n.process.Stop()
		outputs = append(outputs, n.process.Output())
	}
	dir := strings.TrimPrefix(s.CLI("config", "get", "dir"), "dir\n")
	if n := plantKeys(t, c, dir); n == 0 {
		t.Error("no signing key was found in Redis to look for")
	}

	if n := len(c.Names()); n < 10 {
		t.Errorf("only %d kinds of secrets: %v", n, c.Names())
	}
	var found []string
	for _, out := range outputs {
		found = append(found, c.Find(out)...)
	}
	files, looked := c.FindFiles(t, dir, nil)
	if looked < 3 { // the dump, the append-only file, its manifest
		t.Errorf("only %d files of Redis in %s", looked, dir)
	}
	found = append(found, files...)
	for _, n := range cl.nodes {
		files, looked := c.FindFiles(t, n.Dir, nil)
		if looked < 3 { // the Caddyfile, the users, the log
			t.Errorf("only %d files of a node", looked)
		}
		found = append(found, files...)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// plantKeys opens the signing keys as the gateway does.
func plantKeys(t *testing.T, c *harness.Canaries, dir string) (planted int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"kid":"([\w-]+)","alg":"\w+","public":\{[^}]*\},"private":"([\w-]+)"`).FindAllSubmatch(raw, -1) {
			der, err := gatewaytest.OpenSealed(masterSecret, "signing key", string(m[2]), m[1])
			if err != nil {
				t.Error("a signing key that the secret does not open:", err)
				continue
			}
			c.Plant(t, "a signing key", string(der))
			planted++
		}
	}
	return planted
}

// follow opens an address and goes to where it sends the browser, until there is a page.
func follow(t *testing.T, v *visitor, address string) harness.Page {
	t.Helper()
	p := v.Get(address)
	for range 5 {
		if p.Header.Get("Location") == "" {
			return p
		}
		p = v.Get(p.URL.ResolveReference(p.Location(t)).String())
	}
	t.Fatal("no end of redirects")
	return p
}

func must(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
