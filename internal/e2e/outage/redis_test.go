package outage

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// onRedis is the site with state and counts in Redis.
func onRedis(address string, pairs ...string) string {
	return with(append(pairs, "$STORE", "redis "+address, "$LIMITER", "redis")...)
}

func startOnRedis(t *testing.T, s *redistest.Server, pairs ...string) *harness.Gateway {
	t.Helper()
	g, _, _, _ := prepare(t)
	g.Start(t, onRedis(s.URL(), pairs...))
	return g
}

func TestReadinessNamesTheRedisProblem(t *testing.T) { // O08
	s := redistest.Start(t)
	g := startOnRedis(t, s)
	bearer := token(t, g)
	expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
	ready := func() harness.Page { return get(t, g.Admin+"/gatehouse/ready") }
	expect(t, ready(), http.StatusOK)
	for name, fault := range map[string]struct{ harm, heal func() }{
		"stopped": {s.Kill, s.Restart},
		"frozen":  {s.Freeze, s.Thaw},
	} {
		fault.harm()
		begun := time.Now()
		p := eventually(t, http.StatusServiceUnavailable, ready)
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("%s: known after %v", name, took)
		}
		if state, message, _ := part(t, p, "store"); state != "failing" || message == "" {
			t.Errorf("%s: %s", name, p.Body)
		}
		expect(t, get(t, g.API+"/livez"), http.StatusOK)
		if public := expect(t, get(t, g.API+"/healthz"), http.StatusServiceUnavailable); strings.Contains(public.Body, s.Addr) {
			t.Errorf("%s: the public is told where Redis is: %s", name, public.Body)
		}
		fault.heal()
		eventually(t, http.StatusOK, ready)
	}
}

// A full Redis lets nobody sign in, and every token be judged: guards are of use.
func TestNodeWithFullRedisIsReadyWithAWarning(t *testing.T) { // E07
	s := redistest.Start(t)
	g := startOnRedis(t, s, "$OUTAGE", "on_outage open")
	bearer := token(t, g)
	s.CLI("config", "set", "maxmemory", "1")
	revoke := harness.Send(t, http.DefaultClient, http.MethodPost, g.ID+"/revoke",
		url.Values{"token": {bearer}, "client_id": {machine.ID}, "client_secret": {machine.Secret}}.Encode())
	if expect(t, revoke, http.StatusServiceUnavailable); revoke.Header.Get("Retry-After") == "" {
		t.Errorf("%v", revoke.Header)
	}
	until := func(state string) harness.Page {
		t.Helper()
		return eventually(t, http.StatusOK, func() harness.Page {
			p := expect(t, get(t, g.Admin+"/gatehouse/ready"), http.StatusOK)
			if p.JSON(t)["state"] != state {
				p.Status = 0
			}
			return p
		})
	}
	if state, message, _ := part(t, until("degraded"), "store"); state != "degraded" || !strings.Contains(message, "OOM") {
		t.Errorf("%s: %s", state, message)
	}
	expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
	s.CLI("config", "set", "maxmemory", "0")
	until("ok")
}

func TestDoctorKnowsRedis(t *testing.T) {
	s := redistest.Start(t)
	g := startOnRedis(t, s)
	bearer := token(t, g)
	found := func() map[string]string { // message by grade and check
		t.Helper()
		var all struct {
			Findings []struct{ Check, Grade, Message, Remedy string }
		}
		if err := json.Unmarshal([]byte(expect(t, get(t, g.Admin+"/gatehouse/doctor"), http.StatusOK).Body), &all); err != nil {
			t.Fatal(err)
		}
		by := map[string]string{}
		for _, f := range all.Findings {
			if (f.Remedy == "") != (f.Grade == "ok") {
				t.Errorf("%+v", f)
			}
			by[f.Grade+" "+f.Check] += f.Message + "\n"
		}
		return by
	}
	want := func(grade, part string) {
		t.Helper()
		if by := found(); !strings.Contains(by[grade], part) {
			t.Errorf("no %s of %s: %v", part, grade, by)
		}
	}
	want("warn store server", "appendonly is off")
	want("ok limiter", "reaches its counts")
	s.CLI("config", "set", "appendonly", "yes")
	want("ok store server", "nothing to remark")
	s.CLI("config", "set", "maxmemory-policy", "allkeys-lru")
	want("fail store server", "maxmemory-policy is allkeys-lru")
	want("warn limiter server", "maxmemory-policy is allkeys-lru")
	s.CLI("config", "set", "maxmemory-policy", "noeviction")

	replica := redistest.Start(t, "--replicaof", strings.Replace(s.Addr, ":", " ", 1))
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(s.CLI("info", "replication"), "connected_slaves:1"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no replica comes")
		}
	}
	want("warn store server", "no write waits for any")
	g.Load(t, onRedis(s.URL()+" {\n\t\t\treplicas 1\n\t\t}"))
	want("ok store server", "nothing to remark")
	replica.Kill()
	for deadline := time.Now().Add(10 * time.Second); strings.Contains(s.CLI("info", "replication"), "connected_slaves:1"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the replica stays")
		}
	}
	want("fail store server", "writes are refused")
	s.Kill()
	want("fail store", "cannot be used")
	for range 10 { // an outage is known by the requests that meet it
		_ = g.Call(t, http.MethodGet, "/read", bearer)
	}
	want("warn limiter", "does not reach")
}

func TestRedisHoldsNothingCallersSent(t *testing.T) {
	s := redistest.Start(t, "--rdbcompression", "no")
	// On a busy machine Redis may take longer than the 20 ms after which requests are decided
	// without it, for a part of the limit.
	g := startOnRedis(t, s, "$LIMITER", "redis {\n\t\t\ttimeout 3s\n\t\t}", "$POLICY", "client 100 10s\n\t\tby key {http.request.header.X-Api-Key} 2 10s")
	bearer := token(t, g)
	const canary = "sk_live_a_canary_in_a_header"
	for _, want := range []int{200, 200, 429} {
		p := harness.Send(t, http.DefaultClient, http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+bearer, "X-Api-Key", canary)
		if p.Status != want {
			t.Fatalf("%d, want %d", p.Status, want)
		}
	}
	limits := 0
	for key := range strings.SplitSeq(s.CLI("--scan"), "\n") {
		if strings.Contains(key, "sk_live") {
			t.Errorf("the key %s", key)
		}
		if strings.Contains(key, "limit:") {
			limits++
			if ttl, err := strconv.Atoi(s.CLI("ttl", key)); err != nil || ttl < 1 || ttl > 30 { // L10
				t.Errorf("%s has the TTL %d %v", key, ttl, err)
			}
		}
	}
	if limits < 2 {
		t.Errorf("only %d keys of limits: %s", limits, s.CLI("--scan"))
	}
	s.CLI("save")
	var c harness.Canaries
	c.Plant(t, "the header", canary)
	c.Plant(t, "the token", bearer)
	found, looked := c.FindFiles(t, s.CLI("config", "get", "dir")[len("dir\n"):], nil)
	if len(found) > 0 || looked == 0 {
		t.Errorf("%v in %d files", found, looked)
	}
}

func TestValidateDoesNotConnect(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var dialled atomic.Int64
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			dialled.Add(1)
			_ = c.Close()
		}
	}()
	g, _, _, _ := prepare(t)
	before := runtime.NumGoroutine()
	for _, scheme := range []string{"redis", "rediss", "redis+cluster"} {
		text := onRedis(scheme + "://" + listener.Addr().String())
		for range 2 {
			if err := validate(t, g, text); err != nil {
				t.Fatal(err)
			}
			if err := g.TryLoad(strings.Replace(text, "reverse_proxy $UPSTREAM", "reverse_proxy $UPSTREAM {\n\t\tlb_policy missing\n\t}", 1)); err == nil {
				t.Fatal("loaded a policy that there is not")
			}
			if err := validate(t, g, strings.Replace(text, "client 100 1h", "client 100 1h\n\t\texempt nobody", 1)); err == nil {
				t.Fatal("an exempt client that there is not")
			}
		}
	}
	without := strings.Replace(onRedis("redis://"+listener.Addr().String()), "\t\tsecret {env.GATEHOUSE_TEST_SECRET}\n", "", 1)
	if err := validate(t, g, without); err == nil || !strings.Contains(err.Error(), "set the global option `secret`") {
		t.Errorf("without a secret: %v", err)
	}
	beside := with("$STORE", "bolt $DIR/state.db", "$LIMITER", "redis")
	if err := validate(t, g, beside); err == nil || !strings.Contains(err.Error(), "not in Redis") {
		t.Errorf("beside bolt: %v", err)
	}
	settle(t, before)
	if n := dialled.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// clients are the connections of a user of Redis.
func clients(s *redistest.Server, user string) (n int) {
	return strings.Count(s.CLI("client", "list"), " user="+user+" ")
}

// rights are what deploy/README.md says the ACL user of the store needs.
const rights = "~gatehouse:* &gatehouse:* +@read +@write +@connection -@dangerous -@scripting +eval +evalsha +info +time +wait +publish +subscribe +unsubscribe"

func TestReloadRotatesRedisCredentials(t *testing.T) {
	s := redistest.Start(t)
	allow := func(user, password string) {
		s.CLI(append([]string{"acl", "setuser", user, "reset", "on", ">" + password}, strings.Fields(rights)...)...)
	}
	allow("first", "first-password")
	allow("second", "second-password")
	text := func(user string) string {
		t.Setenv("GATEHOUSE_TEST_REDIS", user+"-password")
		return onRedis("redis://" + user + ":{env.GATEHOUSE_TEST_REDIS}@" + s.Addr + "/0")
	}
	g, up, _, _ := prepare(t)
	g.Start(t, text("first"))
	bearer := token(t, g)
	arrived, release := make(chan struct{}), make(chan struct{})
	up.Answer(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-release
	})
	slow := make(chan int)
	go func() { slow <- g.Call(t, http.MethodGet, "/slow", bearer).Status }()
	<-arrived
	up.Answer(nil)
	g.Load(t, text("second"))
	p := expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
	if p.Header.Get("X-Ratelimit-Remaining") != "98" {
		t.Errorf("the counts are lost: %v", p.Header)
	}
	if a, b := clients(s, "first"), clients(s, "second"); a == 0 || b == 0 {
		t.Errorf("while a request of the old configuration is in flight %d connections of the first user, %d of the second", a, b)
	}
	close(release)
	if status := <-slow; status != http.StatusOK {
		t.Errorf("the slow request: %d", status)
	}
	for deadline := time.Now().Add(5 * time.Second); clients(s, "first") != 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections of the first user stay", clients(s, "first"))
		}
	}
	s.CLI("acl", "deluser", "first")
	token(t, g)
	expect(t, get(t, g.Admin+"/gatehouse/ready"), http.StatusOK)
	config := fmt.Sprint(get(t, g.Admin+"/config/").Body, g.Scrape(t))
	if strings.Contains(config, "second-password") {
		t.Error("the password stands in the stored configuration")
	}
}

func TestReloadsUnderLoadKeepTheCountsInRedis(t *testing.T) {
	s := redistest.Start(t)
	g := startOnRedis(t, s, "$LIMITER", "redis {\n\t\t\ttimeout 3s\n\t\t}", "$POLICY", "client 200 1h")
	bearer := token(t, g)
	var admitted, refused, other atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, err := http.NewRequest(http.MethodGet, g.API+"/read", nil)
				if err != nil {
					continue
				}
				r.Header.Set("Authorization", "Bearer "+bearer)
				res, err := client.Do(r)
				if err != nil {
					continue // a fresh connection to the listener that is being closed
				}
				_ = res.Body.Close()
				switch res.StatusCode {
				case http.StatusOK:
					admitted.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				default:
					other.Add(1)
					t.Log(res.StatusCode)
				}
			}
		})
	}
	for i := range 5 {
		// Each with a connection of its own, that waits for longer than a busy machine takes.
		g.Load(t, onRedis(s.URL()+fmt.Sprintf(" {\n\t\t\ttimeout %dms\n\t\t}", 3000+i),
			"$LIMITER", fmt.Sprintf("redis {\n\t\t\ttimeout %dms\n\t\t}", 3000+i), "$POLICY", "client 200 1h", "$OUTAGE", "on_outage closed"))
	}
	close(stop)
	all.Wait()
	if a := admitted.Load(); a != 200 || refused.Load() == 0 || other.Load() != 0 {
		t.Errorf("%d admitted, %d refused, %d others", a, refused.Load(), other.Load())
	}
}
