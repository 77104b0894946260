package redis

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

// What the documentation says an ACL user needs.
const (
	rights        = "~gatehouse:limit:* +@read +@write +@connection -@dangerous -@scripting +eval +evalsha +info +time"
	rightsCluster = "+cluster|slots +asking"
)

func TestDocumentedRightsAreTheTestedOnes(t *testing.T) {
	doc, err := os.ReadFile("../../../deploy/README.md")
	text := strings.Join(strings.Fields(string(doc)), " ")
	if err != nil || !strings.Contains(text, "`"+rights+"`") || !strings.Contains(text, "`"+rightsCluster+"`") {
		t.Errorf("it says something else: %v", err)
	}
}

// A user with the documented rights, and no others, can do all that a limiter does, on
// every kind of Redis and through TLS with an authority and a certificate of one's own.
func TestDocumentedLimiterRightsSuffice(t *testing.T) {
	over, certs := redistest.StartTLS(t, "--tls-auth-clients", "yes")
	sentinel, cluster := redistest.SharedSentinel(t), redistest.SharedCluster(t)
	for name, c := range map[string]struct {
		config  redisconn.Config
		rights  string
		servers []*redistest.Server
	}{
		"one server": {redisconn.Config{URL: redistest.Shared(t).URL()}, rights, []*redistest.Server{redistest.Shared(t)}},
		"one server through TLS": {redisconn.Config{URL: over.URL(), TLS: &redisconn.TLS{CA: certs.CA, Cert: certs.Cert, Key: certs.Key}}, rights,
			[]*redistest.Server{over}},
		"a primary that sentinels name": {redisconn.Config{URL: sentinel.URL()}, rights, []*redistest.Server{sentinel.Primary(), sentinel.Replica()}},
		"a cluster":                     {redisconn.Config{URL: cluster.URL()}, rights + " " + rightsCluster, cluster.Nodes},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range c.servers {
				s.CLI(append([]string{"acl", "setuser", "gate", "reset", "on", ">pass"}, strings.Fields(c.rights)...)...)
				s.CLI("acl", "log", "reset")
			}
			s := asGate(t, c.config)
			ask := func() ratelimit.Verdict {
				v, err := s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{one("p", 5, time.Hour, name)}, OnOutage: ratelimit.OutageClosed})
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			admitted := 0
			for range 9 {
				v := ask()
				if v.Outage {
					t.Fatalf("an outage: %v", s.Health())
				}
				if v.Admitted {
					admitted++
				}
			}
			if admitted != 5 {
				t.Errorf("%d of 9 are admitted under a limit of 5", admitted)
			}
			eventually(t, "the node is heard of", func() bool { return s.nodes.count() == 1 })
			if _, _, err := s.Examine(context.Background()); err != nil {
				t.Errorf("Examine: %v", err)
			}
			if err := s.Health(); err != nil {
				t.Errorf("Health: %v", err)
			}
			for _, server := range c.servers {
				if denied := server.CLI("acl", "log"); denied != "" {
					t.Errorf("it needs more: %s", denied)
				}
			}
			for _, args := range [][]any{
				{"get", "gatehouse:session:a"}, {"publish", "gatehouse:bell", "x"}, {"flushall"}, {"script", "flush"}, {"config", "get", "dir"}, {"keys", "gatehouse:limit:*"},
			} {
				if err := s.conn.client.Do(context.Background(), args...).Err(); err == nil || !strings.Contains(err.Error(), "NOPERM") {
					t.Errorf("it may do %v: %v", args, err)
				}
			}
		})
	}
	t.Run("an authority that is not trusted", func(t *testing.T) {
		s := asGate(t, redisconn.Config{URL: over.URL(), TLS: &redisconn.TLS{Cert: certs.Cert, Key: certs.Key}})
		eventually(t, "it says why there are no counts", func() bool {
			v, err := s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{one("p", 5, time.Hour, "s")}, OnOutage: ratelimit.OutageOpen})
			if err != nil || !v.Outage {
				t.Fatalf("%+v, %v", v, err)
			}
			err = s.Health()
			return err != nil && strings.Contains(err.Error(), "unknown authority")
		})
	})
}

// asGate opens what is configured, as the user "gate".
func asGate(t *testing.T, c redisconn.Config) *Source {
	t.Helper()
	c.Username, c.Password, c.Timeout = "gate", "pass", 2e9 // a machine full of tests is slow
	opened, err := provisioned(t, &Limiter{Config: c}).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	s, ok := opened.(*Source)
	if !ok {
		t.Fatalf("%T", opened)
	}
	return s
}
