package redis

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

func parse(text string) (*Limiter, error) {
	l := new(Limiter)
	return l, l.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text))
}

func TestCaddyfileBecomesJSON(t *testing.T) {
	for text, want := range map[string]string{
		`redis`:                         `{}`,
		`redis redis://10.0.0.6:6379/0`: `{"url":"redis://10.0.0.6:6379/0"}`,
		`redis redis://10.0.0.6 {
			prefix shop:
			nodes 3
			size 1GiB
			timeout 30ms
			username gate
			password {env.LIMITS_PASSWORD}
			tls {
				ca /etc/redis-ca.pem
				server_name limits
			}
		}`: `{"url":"redis://10.0.0.6","prefix":"shop:","timeout":30000000,"tls":{"ca":"/etc/redis-ca.pem","server_name":"limits"},"username":"gate","password":"{env.LIMITS_PASSWORD}","nodes":3,"size":1073741824}`,
	} {
		l, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := json.Marshal(l); err != nil || string(got) != want {
			t.Errorf("%s\n%s, %v, want\n%s", text, got, err, want)
		}
	}
}

func TestCaddyfileErrors(t *testing.T) {
	for text, want := range map[string]string{
		`redis ""`:                              "such as redis://",
		`redis redis://a redis://b`:             "such as redis://",
		`redis redis://user:hunter2@10.0.0.6/0`: "placeholder",
		"redis {\n password hunter2\n}":         "placeholder",
		"redis {\n nodes 0\n}":                  "whole number from 1",
		"redis {\n timeout never\n}":            "invalid duration",
		"redis {\n replicas 1\n}":               "unrecognized word 'replicas'",
		"redis {\n nodes 2\n nodes 3\n}":        "given twice",
		"redis {\n size\n}":                     "size: expected one value",
		"redis {\n size lots\n}":                "invalid size 'lots', expected one such as 256MiB",
		"redis {\n size 31MiB\n}":               "size is 32505856 bytes, expected 33554432 (32MiB)",
	} {
		_, err := parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func provisioned(t *testing.T, l *Limiter) *Limiter {
	t.Helper()
	if err := l.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestProvisionRefusesInvalidSettings(t *testing.T) {
	for want, l := range map[string]*Limiter{
		"nodes is -1":                 {Config: redisconn.Config{URL: "redis://a"}, Nodes: -1},
		"size is 33554431":            {Config: redisconn.Config{URL: "redis://a"}, Size: minSize - 1},
		"size is 1099511627777":       {Config: redisconn.Config{URL: "redis://a"}, Size: maxSize + 1},
		"nodes is 10001":              {Config: redisconn.Config{URL: "redis://a"}, Nodes: 10_001},
		"the address of Redis":        {Config: redisconn.Config{URL: "http://a"}},
		"the connection is the store": {Config: redisconn.Config{Password: "p"}},
		"timeout":                     {Config: redisconn.Config{Timeout: -1}},
		"prefix":                      {Config: redisconn.Config{Prefix: "{a}"}},
	} {
		if err := l.Provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestSourceIdentityFollowsItsSettings(t *testing.T) {
	base := func() *Limiter { return &Limiter{Config: redisconn.Config{URL: "redis://10.0.0.6", Password: "old"}} }
	id := provisioned(t, base()).Identity()
	if provisioned(t, base()).Identity() != id {
		t.Fatal("two equal configurations are two sources")
	}
	for name, change := range map[string]func(*Limiter){
		"address":  func(l *Limiter) { l.URL = "redis://10.0.0.7" },
		"password": func(l *Limiter) { l.Password = "new" },
		"prefix":   func(l *Limiter) { l.Prefix = "other:" },
		"timeout":  func(l *Limiter) { l.Timeout = 5e6 },
		"nodes":    func(l *Limiter) { l.Nodes = 2 },
		"size":     func(l *Limiter) { l.Size = minSize },
	} {
		l := base()
		if change(l); provisioned(t, l).Identity() == id {
			t.Errorf("another %s is the same source", name)
		}
	}
}

// inRedis is a store as the one on Redis shows itself to a limiter.
type inRedis struct{ settings redisconn.Settings }

func (s inRedis) Connection() redisconn.Settings { return s.settings }

func TestLimiterWithoutURLSharesTheStoresRedis(t *testing.T) {
	store := inRedis{settings(t, "redis://gate:secret@10.0.0.5:6380/2", "shop:", 0)}
	l := provisioned(t, &Limiter{Config: redisconn.Config{Timeout: 30e6}, Nodes: 2})
	if _, err := l.Open(context.Background()); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Fatalf("%v before a store is known", err)
	}
	if err := l.BesideStore(struct{}{}); err == nil || !strings.Contains(err.Error(), "the store is not in Redis") {
		t.Fatalf("%v beside a store in a file", err)
	}
	if err := l.BesideStore(store); err != nil {
		t.Fatal(err)
	}
	want := store.settings
	want.Timeout = 30e6
	if l.Identity() != any(sourceIdentity{want, 2, defaultSize}) {
		t.Fatalf("%v", l.Identity())
	}
	l = provisioned(t, &Limiter{Config: redisconn.Config{Prefix: "own:"}})
	if err := l.BesideStore(store); err != nil || l.settings.Prefix != "own:" || l.settings.Timeout != 0 {
		t.Fatalf("%+v, %v", l.settings, err)
	}
	own := provisioned(t, &Limiter{Config: redisconn.Config{URL: "redis://10.0.0.6"}})
	if err := own.BesideStore(struct{}{}); err != nil || own.settings.String() != "redis://10.0.0.6:6379/0" {
		t.Fatalf("%v, %v: one with an address of its own cares for no store", own.settings, err)
	}
}

func TestProvisionDoesNotConnectAndOpenDoesNotWait(t *testing.T) {
	before := runtime.NumGoroutine()
	l := provisioned(t, &Limiter{Config: redisconn.Config{URL: "redis://127.0.0.1:1"}})
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines became %d", before, n)
	}
	s, err := l.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{one("p", 1, 1e9, "s")}, OnOutage: ratelimit.OutageOpen})
	if err != nil || !v.Outage {
		t.Errorf("%+v, %v without a server", v, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
