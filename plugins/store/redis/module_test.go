package redis

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

func TestCaddyfile(t *testing.T) {
	for _, c := range []struct {
		input string
		want  Redis
		fault string
	}{
		{input: "redis redis://h", want: Redis{Config: redisconn.Config{URL: "redis://h"}}},
		{
			input: "redis redis://u:{env.P}@h:1/2 {\n prefix a:\n replicas 2\n timeout 1s\n}",
			want:  Redis{Config: redisconn.Config{URL: "redis://u:{env.P}@h:1/2", Prefix: "a:", Timeout: caddy.Duration(time.Second)}, Replicas: 2},
		},
		{input: "redis", fault: "expected `store redis <url>`"},
		{input: "redis a b", fault: "expected `store redis <url>`"},
		{input: `redis ""`, fault: "expected `store redis <url>`"},
		{input: "redis redis://u:hush@h", fault: "the password in the address: expected a placeholder"},
		{input: "redis redis://h {\n password hush\n}", fault: "expected a placeholder"},
		{input: "redis redis://h {\n replicas some\n}", fault: "replicas: invalid number"},
		{input: "redis redis://h {\n color red\n}", fault: "unrecognized word 'color' in the Redis store, expected one of: password, prefix, replicas, sentinel_password, sentinel_username, timeout, tls, username"},
	} {
		got := new(Redis)
		err := got.UnmarshalCaddyfile(caddyfile.NewTestDispenser(c.input))
		switch {
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "hush")):
			t.Errorf("%q: %v, want an error with %q", c.input, err, c.fault)
		case c.fault == "" && (err != nil || *got != c.want):
			t.Errorf("%q: %+v, %v, want %+v", c.input, got, err, c.want)
		}
	}
}

func TestProvisionRefusesUnsupportedSettings(t *testing.T) {
	for fault, r := range map[string]*Redis{
		"expected redis://":   {},
		"replicas: expected":  {Config: redisconn.Config{URL: "redis://h"}, Replicas: 17},
		"REDIS_TEST_IS_UNSET": {Config: redisconn.Config{URL: "redis://h", Password: "{env.REDIS_TEST_IS_UNSET}"}},
	} {
		if err := r.Provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("Provision: %v, want an error with %q", err, fault)
		}
	}
}

func TestIdentityDependsOnThePassword(t *testing.T) {
	identity := func(password string, replicas int) any {
		t.Setenv("REDIS_TEST_PASSWORD", password)
		r := &Redis{Config: redisconn.Config{URL: "redis://127.0.0.1:1", Password: "{env.REDIS_TEST_PASSWORD}"}, Replicas: replicas}
		if err := r.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		return r.Identity()
	}
	if identity("a", 0) != identity("a", 0) {
		t.Error("the same is different")
	}
	if identity("a", 0) == identity("b", 0) || identity("a", 0) == identity("a", 1) {
		t.Error("what is different is the same")
	}
}

func TestOpenDoesNotWaitForTheServer(t *testing.T) {
	r := &Redis{Config: redisconn.Config{URL: "redis://127.0.0.1:1"}}
	if err := r.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	begin := time.Now()
	b, err := r.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Get(ctx, record("a").Key)
	technical(t, "Get", err)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > within {
		t.Errorf("it took %v", took)
	}
	cancel()
	if b, err := r.Open(ctx); !errors.Is(err, context.Canceled) || b != nil {
		t.Errorf("Open = %v, %v", b, err)
	}
}

// logged opens a store whose log is kept.
func logged(t *testing.T, o Options) (*Backend, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.DebugLevel)
	o.Logger = zap.New(core)
	return open(t, o), logs
}

// E07
func TestEvictingRedisCausesAWarning(t *testing.T) {
	for policy, warned := range map[string]bool{"allkeys-lru": true, "volatile-ttl": true, "noeviction": false} {
		server := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", policy)
		b, logs := logged(t, options(t, server.URL()))
		asked := func() bool { return strings.Contains(server.CLI("info", "commandstats"), "cmdstat_info:calls=2") }
		server.CLI("info")
		for until := time.Now().Add(10 * time.Second); logs.Len() == 0 && (warned || !asked()) && time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if got := logs.FilterMessageSnippet("noeviction").Len() == 1; got != warned {
			t.Errorf("%s: %v", policy, logs.All())
		}
	}
}

func TestOldRedisVersionCausesAWarning(t *testing.T) {
	b, logs := logged(t, options(t, redistest.Shared(t).URL()))
	b.warnOf([]string{"# Server\r\nredis_version:7.2.4\r\nmaxmemory_policy:noeviction\r\n", ""})
	if logs.Len() != 0 {
		t.Errorf("%v", logs.All())
	}
	b.warnOf([]string{"redis_version:7.0.0\r\n", "redis_version:6.2.14\r\n"})
	if logs.FilterMessageSnippet("older").Len() != 1 {
		t.Errorf("%v", logs.All())
	}
}

func TestErrorsAndLogHideTheRedisPassword(t *testing.T) {
	const password = "hush-hush-hush"
	server := redistest.Start(t, "--requirepass", "another", "--rename-command", "AUTH", "")
	proxy := redistest.NewProxy(t, server.Addr)
	s, err := redisconn.Parse(strings.Replace(proxy.URL(), "redis://", "redis://:"+password+"@", 1))
	if err != nil {
		t.Fatal(err)
	}
	b, logs := logged(t, Options{Settings: s})
	texts := []string{}
	for _, hurt := range []func(){func() {}, proxy.Reset, proxy.Blackhole} {
		hurt()
		_, err := b.Get(t.Context(), record("a").Key)
		technical(t, "Get", err)
		texts = append(texts, err.Error(), b.Health().Error())
	}
	for _, entry := range logs.All() {
		text, err := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()).EncodeEntry(entry.Entry, entry.Context)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text.String())
	}
	for _, text := range texts {
		if strings.Contains(text, password) {
			t.Errorf("%s", text)
		}
	}
	if !strings.Contains(texts[0], "***") {
		t.Logf("this Redis does not repeat a password: %s", texts[0])
	}
}
