package redisconn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	redistest.StopShared()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func connect(t testing.TB, c Config) goredis.UniversalClient {
	t.Helper()
	s, err := c.Resolve(caddy.NewReplacer())
	if err != nil {
		t.Fatal(err)
	}
	client, err := s.Open(Tuning{Dial: time.Second, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

var count = NewScript("return redis.call('INCR', KEYS[1])")

func TestEvictedScriptRunsOnEveryKindOfRedis(t *testing.T) {
	for name, url := range map[string]string{
		"single": redistest.Shared(t).URL(), "sentinel": redistest.SharedSentinel(t).URL(), "cluster": redistest.SharedCluster(t).URL(),
	} {
		client := connect(t, Config{URL: url})
		for n := range 3 {
			for _, key := range []string{"script:a", "script:b", "script:c", "script:d"} {
				got, err := count.Run(t.Context(), client, []string{key})
				if err != nil || got != int64(n+1) {
					t.Errorf("%s, %s: %v, %v, want %d", name, key, got, err, n+1)
				}
			}
			if err := forget(t, client); err != nil {
				t.Fatal(err)
			}
		}
		values, err := Values(t.Context(), client, []string{"script:a", "none", "script:b", "script:c"})
		if err != nil || fmt.Sprint(values) != "[3 <nil> 3 3]" {
			t.Errorf("%s: %v, %v", name, values, err)
		}
		for _, key := range []string{"script:a", "script:b", "script:c", "script:d"} {
			if _, err := Do(t.Context(), client, key, "DEL", key); err != nil {
				t.Error(err)
			}
		}
	}
}

func forget(t *testing.T, client goredis.UniversalClient) error {
	nodes, ok := client.(*goredis.ClusterClient)
	if !ok {
		return client.ScriptFlush(t.Context()).Err()
	}
	return nodes.ForEachMaster(t.Context(), func(ctx context.Context, node *goredis.Client) error { return node.ScriptFlush(ctx).Err() })
}

// A write that is repeated behind the caller's back is a second one.
func TestScriptWithLostReplyIsNotRepeated(t *testing.T) {
	server := redistest.Shared(t)
	for name, url := range map[string]func(p *redistest.Proxy) string{
		"single": func(p *redistest.Proxy) string { return p.URL() },
	} {
		proxy := redistest.NewProxy(t, server.Addr)
		client := connect(t, Config{URL: url(proxy)})
		key := []string{"lost:" + name}
		if _, err := count.Run(t.Context(), client, key); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			proxy.DropReplies(1, "EVALSHA")
			_, err := count.Run(t.Context(), client, key)
			if !unavailable(err) || Unapplied(err) {
				t.Errorf("%s: %v, want a fault that leaves open what happened", name, err)
			}
		}
		if got, err := count.Run(t.Context(), client, key); err != nil || got != int64(7) {
			t.Errorf("%s: %v, %v, want 7", name, got, err)
		}
	}
}

func TestClusterSlotMoveIsFollowed(t *testing.T) {
	c := redistest.StartCluster(t)
	client := connect(t, Config{URL: c.URL()})
	key := []string{"moving"}
	run := func(want int64, w Wait) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if got, err := count.RunAndWait(ctx, client, w, key); err != nil || got != want {
			t.Fatalf("%v, %v, want %d", got, err, want)
		}
	}
	run(1, Wait{})
	early := connect(t, Config{URL: c.URL()}) // knows the cluster as it is now
	if got, err := Do(t.Context(), early, key[0], "GET", key[0]); err != nil || got != "1" {
		t.Fatal(got, err)
	}
	from := c.Holder(key[0])
	to := c.Nodes[0]
	if to.Addr == from.Addr {
		to = c.Nodes[1]
	}
	id := func(s *redistest.Server) string { return strings.TrimSpace(s.CLI("cluster", "myid")) }
	slot := strings.TrimSpace(from.CLI("cluster", "keyslot", key[0]))
	to.CLI("cluster", "setslot", slot, "importing", id(from))
	from.CLI("cluster", "setslot", slot, "migrating", id(to))
	run(2, Wait{}) // still there
	host, port, _ := strings.Cut(to.Addr, ":")
	from.CLI("migrate", host, port, key[0], "0", "1000")
	run(3, Wait{}) // ASK
	run(4, Wait{1, time.Second})
	if got, err := Values(t.Context(), client, key); err != nil || fmt.Sprint(got) != "[4]" {
		t.Errorf("%v, %v", got, err)
	}
	to.CLI("cluster", "setslot", slot, "node", id(to))
	from.CLI("cluster", "setslot", slot, "node", id(to))
	if got, err := Do(t.Context(), early, key[0], "GET", key[0]); err != nil || got != "4" { // MOVED
		t.Errorf("%v, %v", got, err)
	}
	run(5, Wait{})
	run(6, Wait{1, time.Second})
	if got, err := Values(t.Context(), client, key); err != nil || fmt.Sprint(got) != "[6]" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestUnderReplicatedWriteIsNotASuccess(t *testing.T) {
	alone, pair := redistest.Shared(t), redistest.SharedSentinel(t)
	_, err := count.RunAndWait(t.Context(), connect(t, Config{URL: alone.URL()}), Wait{1, 20 * time.Millisecond}, []string{"wait:a"})
	if !errors.Is(err, ErrReplicas) || !unavailable(err) || Unapplied(err) {
		t.Errorf("without a replica: %v", err)
	}
	if got, err := count.RunAndWait(t.Context(), connect(t, Config{URL: pair.URL()}), Wait{1, time.Second}, []string{"wait:b"}); err != nil || got != int64(1) {
		t.Errorf("with one: %v, %v", got, err)
	}
}

// taking holds the connection that a script has just used, so that a pool would give
// another one, whose writes replicas had long ago.
type taking struct {
	client *goredis.Client
	held   *goredis.Conn
}

func (*taking) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (*taking) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

func (h *taking) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		err := next(ctx, cmd)
		if strings.HasPrefix(cmd.Name(), "eval") && h.held == nil {
			h.held = h.client.Conn()
			_ = h.held.Ping(ctx).Err()
		}
		return err
	}
}

func TestReplicaWaitUsesTheWritesConnection(t *testing.T) {
	s := redistest.StartSentinel(t)
	client, ok := connect(t, Config{URL: s.URL()}).(*goredis.Client)
	if !ok {
		t.Fatal("not a client of one server")
	}
	one, two := client.Conn(), client.Conn()
	for _, conn := range []*goredis.Conn{one, two} {
		if err := conn.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = one.Close(), two.Close()
	concern := Wait{Replicas: 1, Timeout: 500 * time.Millisecond}
	if _, err := count.RunAndWait(t.Context(), client, concern, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	s.Replica().Freeze()
	defer s.Replica().Thaw()
	hook := &taking{client: client}
	client.AddHook(hook)
	if _, err := count.RunAndWait(t.Context(), client, concern, []string{"a"}); !errors.Is(err, ErrReplicas) {
		t.Errorf("%v, want ErrReplicas", err)
	}
	if hook.held == nil {
		t.Fatal("no connection was taken")
	}
	_ = hook.held.Close()
}

func TestDemotedPrimaryIsLeftAndFoundAgain(t *testing.T) {
	server, other := redistest.Start(t), redistest.Shared(t)
	client := connect(t, Config{URL: server.URL()})
	for _, w := range []Wait{{}, {1, time.Millisecond}} {
		if _, err := count.RunAndWait(t.Context(), client, w, []string{"a"}); err != nil && !errors.Is(err, ErrReplicas) {
			t.Fatal(err)
		}
		host, port, _ := strings.Cut(other.Addr, ":")
		server.CLI("replicaof", host, port)
		_, err := count.RunAndWait(t.Context(), client, w, []string{"a"})
		if !unavailable(err) || !Unapplied(err) {
			t.Errorf("%v, want READONLY as a fault that changed nothing", err)
		}
		if n := client.PoolStats().TotalConns; n != 0 {
			t.Errorf("%d connections to a server that may not write are kept", n)
		}
		server.CLI("replicaof", "no", "one")
	}
}

func TestRedisTLS(t *testing.T) {
	server, certs := redistest.StartTLS(t, "--tls-auth-clients", "yes")
	url := server.URL()
	own := &TLS{CA: certs.CA, Cert: certs.Cert, Key: certs.Key}
	if err := connect(t, Config{URL: url, TLS: own}).Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
	for want, c := range map[string]*TLS{
		"unknown authority": {Cert: certs.Cert, Key: certs.Key},
		"not other.example": {CA: certs.CA, Cert: certs.Cert, Key: certs.Key, ServerName: "other.example"},
		"":                  {CA: certs.CA}, // an alert, or a reset that overtakes it
	} {
		if err := connect(t, Config{URL: url, TLS: c}).Ping(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestWrongRedisPasswordIsNotShown(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "right")
	for password, fine := range map[string]bool{"right": true, "hush": false} {
		c := Config{URL: server.URL(), Password: password}
		_, err := count.Run(t.Context(), connect(t, c), []string{"a"})
		if (err == nil) != fine || err != nil && (!unavailable(err) || strings.Contains(err.Error(), password)) {
			t.Errorf("%v", err)
		}
	}
	if _, err := count.Run(t.Context(), connect(t, Config{URL: server.URL()}), []string{"a"}); !unavailable(err) {
		t.Errorf("without one: %v", err)
	}
}

// Tokens of a cloud are longer than what Redis repeats of a command that it does not know.
func TestPasswordTruncatedByRedisIsNotShown(t *testing.T) {
	password := strings.Repeat("0123456789", 30)
	server := redistest.Start(t, "--rename-command", "AUTH", "", "--rename-command", "HELLO", "")
	c := Config{URL: server.URL(), Password: password}
	s, err := c.Resolve(caddy.NewReplacer())
	if err != nil {
		t.Fatal(err)
	}
	_, err = count.Run(t.Context(), connect(t, c), []string{"a"})
	if err == nil || !strings.Contains(err.Error(), password[:100]) {
		t.Fatalf("this Redis says nothing to clean: %v", err)
	}
	if text := s.Clean(err).Error(); strings.Contains(text, "0123") || !strings.Contains(text, "***") {
		t.Errorf("%s", text)
	}
	once, twice := errors.New(password[:40]+" and "+password[:16]+"x"+password[:15]), "*** and ***x"+password[:15]
	if text := s.Clean(once).Error(); text != twice {
		t.Errorf("%s, want %s", text, twice)
	}
}

func TestRedisFaultClassification(t *testing.T) {
	for _, c := range []struct {
		err                    error
		unavailable, unapplied bool
	}{
		{nil, false, false},
		{goredis.Nil, false, false},
		{context.Canceled, false, false},
		{context.DeadlineExceeded, true, false},
		{errors.New("connection reset"), true, false},
		{goredis.ErrClosed, true, false},
		{reply("READONLY You can't write against a read only replica."), true, true},
		{reply("OOM command not allowed when used memory > 'maxmemory'."), true, true},
		{reply("ERR Error running script: @user_script:3: -OOM command not allowed"), true, true},
		{reply("LOADING Redis is loading the dataset in memory"), true, true},
		{reply("CLUSTERDOWN Hash slot not served"), true, true},
		{reply("MASTERDOWN Link with MASTER is down"), true, true},
		{reply("ERR max number of clients reached"), true, true},
		{reply("ERR wrong number of arguments"), false, false},
		{reply("WRONGTYPE Operation against a key"), false, false},
		{fmt.Errorf("store: %w", reply("NOAUTH Authentication required.")), true, true},
	} {
		if got := unavailable(c.err); got != c.unavailable {
			t.Errorf("Unavailable(%v) = %v", c.err, got)
		}
		if got := Unapplied(c.err); got != c.unapplied {
			t.Errorf("Unapplied(%v) = %v", c.err, got)
		}
	}
}

type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}
