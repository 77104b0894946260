package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

// within is what a request may wait for the news that the store is away: two questions,
// the second of which settles what the first has left open.
const within = 300 * time.Millisecond

func record(id string) store.Record {
	return store.Record{Key: store.Key{Kind: "k", ID: id}, Parent: "p", Value: []byte("value")}
}

// technical fails unless err is a fault, and no answer a caller could take for one about
// the record.
func technical(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil || store.IsAnswer(err) {
		t.Errorf("%s: %v, want a technical error", what, err)
	}
}

func must(t *testing.T, r store.Record, err error) store.Record {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// everyCall runs each method and gives its error and how long it took.
func everyCall(t *testing.T, b *Backend, made store.Record, check func(what string, err error, took time.Duration)) {
	for _, c := range []struct {
		what string
		call func(ctx context.Context) error
	}{
		{"Swap", func(ctx context.Context) error { _, err := b.Swap(ctx, made); return err }},
		{"Get", func(ctx context.Context) error { _, err := b.Get(ctx, made.Key); return err }},
		{"Create", func(ctx context.Context) error {
			_, err := b.Create(ctx, record(fmt.Sprint(time.Now().UnixNano())))
			return err
		}},
		{"Delete", func(ctx context.Context) error { return b.Delete(ctx, record("none").Key) }},
		{"List", func(ctx context.Context) error { _, err := b.List(ctx, "k", "p", "", 9); return err }},
		{"Watch", func(ctx context.Context) error { return b.Watch(ctx, store.KindRevocation, func([]store.Record) {}) }},
	} {
		begin := time.Now()
		err := c.call(t.Context())
		check(c.what, err, time.Since(begin))
	}
}

func healthy(t *testing.T, b *Backend, within time.Duration) {
	t.Helper()
	for until := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		_, err := b.Create(t.Context(), record(fmt.Sprint("healed ", time.Now().UnixNano())))
		if err == nil && b.Health() == nil {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("not healed after %v: %v, Health %v", within, err, b.Health())
		}
	}
}

// E05
func TestRedisOutageFailsFastAndRecovers(t *testing.T) {
	server := redistest.Start(t)
	for _, c := range []struct {
		name        string
		hurt, mend  func(p *redistest.Proxy)
		dataOutlive bool
	}{
		{"a network that swallows everything", (*redistest.Proxy).Blackhole, (*redistest.Proxy).Heal, true},
		{"half a second more latency", func(p *redistest.Proxy) { p.Latency(500 * time.Millisecond) }, (*redistest.Proxy).Heal, true},
		{"connections that are reset", (*redistest.Proxy).Reset, (*redistest.Proxy).Heal, true},
		{"a process that stands still", func(*redistest.Proxy) { server.Freeze() }, func(*redistest.Proxy) { server.Thaw() }, true},
		{"a server that is stopped and started", func(*redistest.Proxy) { server.Stop() }, func(*redistest.Proxy) { server.Restart() }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			proxy := redistest.NewProxy(t, server.Addr)
			b := open(t, options(t, proxy.URL()))
			made, err := b.Create(t.Context(), record("a"))
			if err != nil || b.Health() != nil {
				t.Fatal(err, b.Health())
			}
			c.hurt(proxy)
			begin := time.Now()
			everyCall(t, b, made, func(what string, err error, took time.Duration) {
				technical(t, what, err)
				if took > within {
					t.Errorf("%s took %v", what, took)
				}
			})
			if b.Health() == nil {
				t.Error("Health knows of nothing")
			}
			var crowd sync.WaitGroup
			for range 4 * connections { // more than there are connections
				crowd.Go(func() {
					begin := time.Now()
					_, err := b.Get(t.Context(), made.Key)
					technical(t, "Get among many", err)
					if took := time.Since(begin); took > within {
						t.Errorf("Get among many took %v", took)
					}
				})
			}
			crowd.Wait()
			// Two questions of the first request after another.
			b.condition.recordSuccess(true, usualTimeout)
			two := time.Now()
			_, err1 := b.Swap(t.Context(), made)
			_, err2 := b.Get(t.Context(), made.Key)
			technical(t, "Swap", err1)
			technical(t, "Get", err2)
			if took := time.Since(two); took > within {
				t.Errorf("a swap and the question what became of it took %v", took)
			}
			t.Logf("8 calls in %v", time.Since(begin))
			c.mend(proxy)
			healthy(t, b, 2*time.Second)
			got, err := b.Get(t.Context(), made.Key)
			if c.dataOutlive && (err != nil || string(got.Value) != "value") {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// A write whose answer was lost took effect; whoever reads sees it.
func TestWriteWithALostReplyTookEffectOnce(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Shared(t).Addr)
	b := open(t, options(t, proxy.URL()))
	warm := must2(b.Create(t.Context(), record("warm")))(t) // the server knows the scripts
	must2(b.Swap(t.Context(), warm))(t)
	r := record("a")
	r.Parent = ""
	proxy.DropReplies(1, "EVALSHA")
	_, err := b.Create(t.Context(), r)
	technical(t, "Create", err)
	if _, err := b.Create(t.Context(), r); !errors.Is(err, store.ErrExists) {
		t.Errorf("Create again: %v", err)
	}
	before := must2(b.Get(t.Context(), r.Key))(t)
	next := before
	next.Value = []byte("next")
	proxy.DropReplies(1, "EVALSHA")
	_, err = b.Swap(t.Context(), next)
	technical(t, "Swap", err)
	after := must2(b.Get(t.Context(), r.Key))(t)
	if string(after.Value) != "next" || after.Version == before.Version {
		t.Errorf("after a swap without an answer: %q", after.Value)
	}
	if _, err := b.Swap(t.Context(), next); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Swap again: %v", err)
	}
}

func must2(r store.Record, err error) func(t *testing.T) store.Record {
	return func(t *testing.T) store.Record { t.Helper(); return must(t, r, err) }
}

// Without the probe, one answer that was late would leave less patience for all later
// ones, for ever.
func TestSlowRedisIsNotAbandoned(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Shared(t).Addr)
	b := open(t, options(t, proxy.URL()))
	must2(b.Create(t.Context(), record("a")))(t)
	proxy.Latency(2 * usualTimeout)
	_, err := b.Get(t.Context(), record("a").Key)
	technical(t, "Get", err)
	proxy.Latency(usualTimeout * 6 / 10) // more than the patience that is left
	for until := time.Now().Add(3 * time.Second); b.Health() != nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the probe does not find it again")
		}
	}
	if _, err := b.Get(t.Context(), record("a").Key); err != nil {
		t.Errorf("Get: %v", err)
	}
}

// E07
func TestFullRedisRefusesWritesAndAnswersReads(t *testing.T) {
	server := redistest.Start(t, "--maxmemory-policy", "noeviction")
	b := open(t, options(t, server.URL()))
	made := must2(b.Create(t.Context(), record("a")))(t)
	feed := watch(t, b)
	server.CLI("config", "set", "maxmemory", "1mb")
	_, err := b.Create(t.Context(), record("b"))
	technical(t, "Create", err)
	if !strings.Contains(err.Error(), "OOM") || b.Health() == nil {
		t.Errorf("Create: %v, Health: %v", err, b.Health())
	}
	_, err = b.Swap(t.Context(), made)
	technical(t, "Swap", err)
	if got, err := b.Get(t.Context(), made.Key); err != nil || got.Version != made.Version {
		t.Errorf("Get: %v", err)
	}
	if found, err := b.List(t.Context(), "k", "p", "", 1); err != nil || len(found) != 1 {
		t.Errorf("List: %v", err)
	}
	if b.Health() == nil {
		t.Error("reading makes a store healthy that cannot write")
	}
	time.Sleep(maxBlind + catchUp)
	if err := feed.ended(); err != nil {
		t.Errorf("the feed of a full Redis ended: %v", err)
	}
	if err := b.Delete(t.Context(), made.Key); err != nil {
		t.Errorf("Delete: %v", err)
	}
	server.CLI("config", "set", "maxmemory", "0")
	healthy(t, b, 2*time.Second)
}

func TestFormerPrimaryAsReplicaIsAFaultAndRecovers(t *testing.T) {
	server, other := redistest.Start(t), redistest.Start(t)
	b := open(t, options(t, server.URL()))
	made := must2(b.Create(t.Context(), record("a")))(t)
	feed := watch(t, b)
	host, port, _ := strings.Cut(other.Addr, ":")
	server.CLI("replicaof", host, port)
	_, err := b.Swap(t.Context(), made)
	technical(t, "Swap", err)
	_, err = b.Create(t.Context(), record("b"))
	technical(t, "Create", err)
	if err := feed.end(t, 2*time.Second); err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("the feed of a replica ended with %v", err)
	}
	server.CLI("replicaof", "no", "one")
	healthy(t, b, 2*time.Second)
}

// wrongReply answers every GET and MGET with a reply of another type than was asked for.
type wrongReply struct{ reply any }

func (wrongReply) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (w wrongReply) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, command goredis.Cmder) error {
		reply := w.reply
		switch command.Name() {
		case "get":
		case "mget":
			reply = []any{w.reply}
		default:
			return next(ctx, command)
		}
		if c, ok := command.(*goredis.Cmd); ok {
			c.SetVal(reply)
		}
		return nil
	}
}

func (wrongReply) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

func TestReplyOfWrongTypeIsNotAMissingRecord(t *testing.T) {
	for _, reply := range []any{int64(1), []any{}, map[any]any{}, 1.5, true} {
		b := open(t, options(t, redistest.Shared(t).URL()))
		made := must2(b.Create(t.Context(), record("wrongly-typed")))(t)
		b.client.AddHook(wrongReply{reply})
		_, err := b.Get(t.Context(), made.Key)
		technical(t, fmt.Sprintf("Get, answered %T", reply), err)
		_, err = b.List(t.Context(), made.Kind, made.Parent, "", 1)
		technical(t, fmt.Sprintf("List, answered %T", reply), err)
	}
}

func TestTooFewReplicasIsAFaultAlthoughWritten(t *testing.T) {
	o := options(t, redistest.Shared(t).URL())
	o.Replicas = 1
	b := open(t, o)
	r := record("a")
	r.Parent = ""
	begin := time.Now()
	_, err := b.Create(t.Context(), r)
	technical(t, "Create", err)
	if took := time.Since(begin); !strings.Contains(err.Error(), "replicas") || took > within {
		t.Errorf("Create: %v after %v", err, took)
	}
	if b.Health() == nil {
		t.Error("Health knows of nothing")
	}
	plain := options(t, redistest.Shared(t).URL())
	plain.Settings.Prefix = o.Settings.Prefix
	if _, err := open(t, plain).Get(t.Context(), r.Key); err != nil {
		t.Errorf("Get without the write concern: %v", err)
	}
}

// Whoever reads what became of a write must not take for done what a failover may undo.
func TestUncertainWriteIsReadOnlyWhenReplicated(t *testing.T) {
	s := redistest.SharedSentinel(t)
	proxy := redistest.NewProxy(t, s.Primary().Addr)
	o := options(t, proxy.URL())
	o.Replicas = 1
	b := open(t, o)
	made := must2(b.Create(t.Context(), lasting("a", time.Hour)))(t)
	other := must2(b.Create(t.Context(), record("b")))(t)
	s.Replica().Freeze()
	thawed := sync.OnceFunc(s.Replica().Thaw)
	defer thawed()
	made.Value = []byte("used")
	_, err := b.Swap(t.Context(), made)
	if !errors.Is(err, redisconn.ErrReplicas) {
		t.Fatal(err)
	}
	_, err = b.Get(t.Context(), made.Key)
	technical(t, "Get of a record that one server has", err)
	if _, err := b.Get(t.Context(), other.Key); err != nil {
		t.Errorf("Get of another record: %v", err)
	}
	thawed()
	healthy(t, b, 2*time.Second)
	got := must2(b.Get(t.Context(), made.Key))(t)
	if string(got.Value) != "used" || !got.Expires.Equal(fromMillis(toMillis(made.Expires))) {
		t.Errorf("%q until %v", got.Value, got.Expires)
	}
	if _, found := b.unconfirmed.findKey(b.recordKey(made.Key)); found {
		t.Error("it is confirmed for ever")
	}
	got.Value = []byte("again")
	proxy.DropReplies(1, "WAIT")
	_, err = b.Swap(t.Context(), got)
	technical(t, "Swap whose confirmation is lost", err)
	if _, found := b.unconfirmed.findKey(b.recordKey(made.Key)); !found {
		t.Error("it is taken for confirmed")
	}
	if got := must2(b.Get(t.Context(), made.Key))(t); string(got.Value) != "again" {
		t.Errorf("%q", got.Value)
	}
	if n := s.Primary().CLI("pttl", b.recordKey(made.Key)); strings.HasPrefix(n, "-") {
		t.Error("to confirm a record takes its end away")
	}
}

// What is gone from one server alone a failover brings back: neither a look nor a second
// Delete may say that it is gone, though both find nothing.
func TestDeleteMissingOnReplicasIsNotDone(t *testing.T) {
	s := redistest.SharedSentinel(t)
	o := options(t, s.URL())
	o.Replicas = 1
	b, other := open(t, o), open(t, o)
	made := must2(b.Create(t.Context(), record("a")))(t)
	must2(other.Create(t.Context(), record("b")))(t)
	s.Replica().Freeze()
	thawed := sync.OnceFunc(s.Replica().Thaw)
	defer thawed()
	if err := b.Delete(t.Context(), made.Key); !errors.Is(err, redisconn.ErrReplicas) {
		t.Fatal(err)
	}
	_, err := b.Get(t.Context(), made.Key)
	technical(t, "Get", err)
	fresh := record("c")
	_, err = b.Create(t.Context(), fresh)
	technical(t, "Create", err)
	_, err = b.Get(t.Context(), fresh.Key)
	technical(t, "Get of what was created", err)
	technical(t, "Delete again", b.Delete(t.Context(), made.Key))
	technical(t, "Delete on another node", other.Delete(t.Context(), made.Key))
	thawed()
	healthy(t, b, 2*time.Second)
	if err := b.Delete(t.Context(), made.Key); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if _, err := b.Get(t.Context(), made.Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
}

func TestUnconfirmedWritesAreLimited(t *testing.T) {
	now := time.Now()
	u := newUnconfirmed(3, func() time.Time { return now })
	has := func(key string) bool { _, found := u.findKey(key); return found }
	for _, key := range []string{"a", "b", "c", "a"} {
		u.addKey(key)
	}
	if !has("a") || has("d") || len(u.keys) != 3 {
		t.Error("not what was added")
	}
	since, _ := u.findKey("a")
	now = now.Add(time.Second)
	u.addKey("a")
	if u.dropKey("a", since); !has("a") {
		t.Error("a write that failed meanwhile is forgotten")
	}
	u.addKey("d")
	for i := range 10 * u.most {
		if u.addKey(fmt.Sprint(i)); len(u.keys) > 3 || !has("a") || !has("d") || !has(fmt.Sprint(i)) || !has("whatever") {
			t.Fatalf("after %d more than the cap %d are held, and something counts as confirmed", i+2, len(u.keys))
		}
	}
	now = now.Add(unconfirmedFor + time.Second)
	u.addKey("e")
	if has("a") || !has("e") {
		t.Error("it does not end")
	}
	for _, key := range []string{"f", "g"} {
		u.addKey(key)
	}
	now = now.Add(unconfirmedFor + time.Second)
	if u.addKey("h"); !has("h") || has("i") || len(u.keys) != 1 {
		t.Error("what is old takes room")
	}
}
