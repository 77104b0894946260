package redis

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/caddytls" // its trust pools
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

// What the documentation says an ACL user needs.
const (
	rights        = "~gatehouse:* &gatehouse:* +@read +@write +@connection -@dangerous -@scripting +eval +evalsha +info +time +wait +publish +subscribe +unsubscribe"
	rightsCluster = "+cluster|slots +asking"
)

func TestDocumentedRightsAreTheTestedOnes(t *testing.T) {
	for _, file := range []string{"module.go", "../../../deploy/README.md"} {
		doc, err := os.ReadFile(file)
		text := strings.Join(strings.Fields(strings.ReplaceAll(string(doc), "//", "")), " ")
		if err != nil || !strings.Contains(text, rights) || !strings.Contains(text, rightsCluster) {
			t.Errorf("%s says something else: %v", file, err)
		}
	}
}

// permit makes the user "gate" with rights on servers.
func permit(t *testing.T, rights string, servers ...*redistest.Server) {
	t.Helper()
	for _, s := range servers {
		s.CLI(append([]string{"acl", "setuser", "gate", "reset", "on", ">pass"}, strings.Fields(rights)...)...)
		s.CLI("acl", "log", "reset")
	}
}

// What is documented is enough for everything, and no more than that, on every kind of
// Redis, and through TLS with an authority and a certificate of one's own.
func TestDocumentedStoreRightsSuffice(t *testing.T) {
	over, certs := redistest.StartTLS(t, "--tls-auth-clients", "yes")
	sentinel, cluster := redistest.SharedSentinel(t), redistest.SharedCluster(t)
	for name, c := range map[string]struct {
		config   redisconn.Config
		rights   string
		replicas int
		servers  []*redistest.Server
	}{
		"one server": {redisconn.Config{URL: redistest.Shared(t).URL()}, rights, 0, []*redistest.Server{redistest.Shared(t)}},
		"one server through TLS": {redisconn.Config{URL: over.URL(), TLS: &redisconn.TLS{CA: certs.CA, Cert: certs.Cert, Key: certs.Key}}, rights, 0,
			[]*redistest.Server{over}},
		"one server through TLS, with Caddy's trust_pool": {redisconn.Config{URL: over.URL(), Prefix: "gatehouse:pool:", TLS: &redisconn.TLS{
			TrustPool: json.RawMessage(`{"provider":"file","pem_files":["` + certs.CA + `"]}`), Cert: certs.Cert, Key: certs.Key}}, rights, 0,
			[]*redistest.Server{over}},
		"a primary and its replica": {redisconn.Config{URL: sentinel.URL()}, rights, 1, []*redistest.Server{sentinel.Primary(), sentinel.Replica()}},
		"a cluster":                 {redisconn.Config{URL: cluster.URL()}, rights + " " + rightsCluster, 1, cluster.Nodes},
	} {
		t.Run(name, func(t *testing.T) {
			permit(t, c.rights, c.servers...)
			c.config.Username, c.config.Password = "gate", "pass"
			module := Redis{Config: c.config, Replicas: c.replicas}
			ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
			defer cancel()
			if err := module.Provision(ctx); err != nil {
				t.Fatal(err)
			}
			b, logs := logged(t, Options{Settings: module.settings, Replicas: c.replicas})
			useAll(t, b)
			denied := func() (n int) {
				for _, s := range c.servers {
					n += strings.Count(s.CLI("acl", "log"), "username")
				}
				return n
			}
			if n := denied(); n != 0 {
				t.Errorf("%d commands that it needs were refused", n)
			}
			if err := b.client.Get(t.Context(), "other").Err(); err == nil || !strings.Contains(err.Error(), "NOPERM") {
				t.Errorf("it may read what is not its own: %v", err)
			}
			for _, args := range [][]any{{"flushall"}, {"script", "flush"}, {"function", "flush"}, {"config", "get", "dir"}, {"acl", "list"}, {"keys", "gatehouse:*"}} {
				if err := b.client.Do(t.Context(), args...).Err(); err == nil || !strings.Contains(err.Error(), "NOPERM") {
					t.Errorf("it may do %v: %v", args, err)
				}
			}
			if denied() == 0 {
				t.Error("Redis says nothing of what it refuses")
			}
			if warned := logs.FilterLevelExact(zap.WarnLevel).All(); len(warned) > 0 {
				t.Errorf("%v", warned)
			}
		})
	}
	t.Run("an authority that is not trusted", func(t *testing.T) {
		module := Redis{Config: redisconn.Config{URL: over.URL(), Username: "gate", Password: "pass", TLS: &redisconn.TLS{Cert: certs.Cert, Key: certs.Key}}}
		if err := module.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		module.settings.Timeout = 5 * time.Second // for a handshake on a busy machine: the reason is to be told, not the time
		_, err := open(t, Options{Settings: module.settings}).Get(t.Context(), record("a").Key)
		if technical(t, "Get", err); !strings.Contains(err.Error(), "unknown authority") {
			t.Error(err)
		}
	})
}

// useAll does everything that a store does once.
func useAll(t *testing.T, b *Backend) {
	t.Helper()
	f := watch(t, b)
	made := must2(b.Create(t.Context(), lasting("rights", time.Hour)))(t)
	made.Expires = made.Expires.Add(time.Hour) // the index is told
	must2(b.Swap(t.Context(), made))(t)
	id := b.recordKey(made.Key) // another one for each Redis
	must2(b.Create(t.Context(), revocation(id)))(t)
	if took := f.has(t, id, time.Second); took > catchUp/2 {
		t.Errorf("the bell took %v", took)
	}
	if found, err := b.List(t.Context(), "k", "p", "", 9); err != nil || len(found) != 1 {
		t.Errorf("List: %d, %v", len(found), err)
	}
	if b.wait.Replicas > 0 {
		b.unconfirmed.addKey(b.recordKey(made.Key))
	}
	must2(b.Get(t.Context(), made.Key))(t)
	if err := b.Delete(t.Context(), made.Key); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if _, _, err := b.Examine(t.Context()); err != nil {
		t.Errorf("Examine: %v", err)
	}
	b.condition.recordFailure(errTooLate, false)
	b.probeUntilServed(t.Context())
	if err := b.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
}
