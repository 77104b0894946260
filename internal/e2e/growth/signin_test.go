package growth

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/store/bolt"
	"github.com/gatehouse/gatehouse/plugins/store/redis"
)

// What a sign-in leaves in a store, for so many users that allocators and tables no longer matter: one user signs in at
// a gateway, and what that wrote is copied for others. Keys and values are bounded, so that no release takes more of
// each unnoticed; deploy/sizing.md has the figures.
func TestStoreSizeOfASignIn(t *testing.T) {
	n := size(200, 20_000)
	of := signInOnce(t)
	for _, kind := range []struct {
		store.Kind
		what                string
		mostRedis, mostBolt int // bytes of keys and values
	}{
		{store.KindGrant, "live grant, all told", 400, 350},
		{store.KindCode, "used code, until its request has expired", 350, 350},
		{store.KindSession, "session", 400, 400},
		{store.KindConsent, "consent", 350, 350},
	} {
		sample, ok := of[kind.Kind]
		if !ok {
			t.Errorf("the sign-in left no %s", kind.Kind)
			continue
		}
		server := redistest.Start(t)
		b := redisBackend(t, server)
		copyFor(t, b, sample, 200) // what connections and scripts take
		server.CLI("FLUSHALL")
		before := usedMemory(t, server)
		copyFor(t, b, sample, n)
		inRedis, lengths := (usedMemory(t, server)-before)/n, redisLengths(t, server)/n

		path := filepath.Join(t.TempDir(), "state.db")
		file, err := bolt.Open(bolt.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		copyFor(t, file, sample, n)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		inBolt := 0
		for _, u := range boltRecords(t, path) {
			inBolt += u.bytes
		}
		t.Logf("| %s, of %d users | %d B of Redis, %d of them keys and values | %d B in bolt |", kind.what, n, inRedis, lengths, inBolt/n)
		if lengths > kind.mostRedis || inBolt/n > kind.mostBolt {
			t.Errorf("a %s has %d bytes of keys and values in Redis and %d in bolt, want at most %d and %d", kind.Kind, lengths, inBolt/n, kind.mostRedis, kind.mostBolt)
		}
	}
	if _, ok := of[store.KindPair]; ok {
		t.Error("there is a record of what the only grant of a user already says")
	}
	if left := time.Until(of[store.KindCode].Expires); left > 25*time.Minute {
		t.Errorf("the used code stays for %v", left)
	}
}

// Users who sign in every day have as many grants as days are in the life of a refresh token, and each pair a list.
func TestStoreSizeOfDailySignIns(t *testing.T) {
	const days, mostLength = 30, 320
	users := size(20, 1000)
	grant := signInOnce(t)[store.KindGrant]
	var g store.Grant
	if err := store.Decode(grant.Value, &g); err != nil {
		t.Fatal(err)
	}
	server := redistest.Start(t)
	b := redisBackend(t, server)
	copyFor(t, b, grant, 200) // what connections and scripts take
	server.CLI("FLUSHALL")
	before := usedMemory(t, server)
	inParallel(16, users, func(int) {
		g, p, r := g, store.Pair{Client: g.Client, Listed: store.ListsAll}, grant
		g.Subject = "u-" + gatewaytest.ID()
		p.Subject, r.Parent = g.Subject, g.Subject
		for range days {
			g.ID, g.Session = gatewaytest.ID(), anyDigest()
			p.Grants = append(p.Grants, store.PairGrant{ID: g.ID, Used: g.RotatedAt, Expires: g.Expires})
			r.ID = g.ID
			if _, err := store.Create(t.Context(), b, r, &g); err != nil {
				t.Error(err)
			}
		}
		r = store.Record{Key: store.PairKey(p.Client, p.Subject), Parent: p.Subject, Expires: grant.Expires}
		if _, err := store.Create(t.Context(), b, r, &p); err != nil {
			t.Error(err)
		}
	})
	inRedis, lengths := (usedMemory(t, server)-before)/users/days, redisLengths(t, server)/users/days
	t.Logf("| live grant of a user with %d, all told, of %d users | %d B of Redis, %d of them keys and values |", days, users, inRedis, lengths)
	if lengths > mostLength {
		t.Errorf("a grant has %d bytes of keys and values, want at most %d", lengths, mostLength)
	}
}

// signInOnce returns a record of each kind that the sign-in of one user at one client leaves.
func signInOnce(t *testing.T) map[store.Kind]store.Record {
	t.Helper()
	server := redistest.Start(t)
	s := startNode(t, 0, "$STORE", "redis "+server.URL()+" {\n timeout 1s\n}", "$USERS", "store")
	text := s.call(t, http.StatusCreated, http.MethodPost, s.Admin+"/gatehouse/users",
		fmt.Sprintf(`{"username":"user","name":"A User","email":"user@example.com","password":%q}`, harness.Password), "Content-Type", "application/json")
	var user struct{ ID string }
	if err := json.Unmarshal([]byte(text), &user); err != nil {
		t.Fatal(err)
	}
	s.signIn(t, "user")
	s.Stop()
	b, of := redisBackend(t, server), make(map[store.Kind]store.Record)
	for _, kind := range []store.Kind{store.KindGrant, store.KindSession, store.KindConsent} {
		found, err := b.List(t.Context(), kind, user.ID, "", 2)
		if err != nil || len(found) != 1 {
			t.Fatalf("%d records of the kind %s, %v", len(found), kind, err)
		}
		of[kind] = found[0]
	}
	_, code, _ := strings.Cut(server.CLI("--scan", "--pattern", "*r:code:*"), "r:code:")
	for _, key := range []store.Key{{Kind: store.KindCode, ID: code}, store.PairKey(web.ID, user.ID)} {
		r, err := b.Get(t.Context(), key)
		switch {
		case err == nil:
			of[key.Kind] = r
		case !errors.Is(err, store.ErrNotFound):
			t.Fatal(err)
		}
	}
	return of
}

func redisBackend(t *testing.T, server *redistest.Server) store.Backend {
	t.Helper()
	r := new(redis.Redis)
	r.URL, r.Timeout = server.URL(), caddy.Duration(10*time.Second) // it is filled as fast as possible
	if err := r.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	b, err := r.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// copyFor stores a record for n other users.
func copyFor(t *testing.T, b store.Backend, sample store.Record, n int) {
	t.Helper()
	inParallel(64, n, func(int) {
		r, subject := sample, "u-"+gatewaytest.ID()
		if r.Parent != "" {
			r.Parent = subject
		}
		var err error
		switch r.Kind {
		case store.KindGrant:
			var g store.Grant
			err = store.Decode(r.Value, &g)
			g.ID, g.Subject, g.Session = gatewaytest.ID(), subject, anyDigest()
			r.ID = g.ID
			if err == nil {
				r.Value, err = store.Encode(&g)
			}
		case store.KindCode:
			var c store.Code
			err = store.Decode(r.Value, &c)
			r.ID, c.Grant = anyDigest(), gatewaytest.ID()
			if err == nil {
				r.Value, err = store.Encode(&c)
			}
		case store.KindSession:
			var s store.Session
			err = store.Decode(r.Value, &s)
			r.ID, s.Subject = anyDigest(), subject
			if err == nil {
				r.Value, err = store.Encode(&s)
			}
		case store.KindConsent:
			var c store.Consent
			err = store.Decode(r.Value, &c)
			r.ID, c.Subject = anyDigest(), subject
			if err == nil {
				r.Value, err = store.Encode(&c)
			}
		}
		if err == nil {
			_, err = b.Create(t.Context(), r)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

func anyDigest() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}

func usedMemory(t *testing.T, server *redistest.Server) int {
	t.Helper()
	return int(redisMemory(t, server, "used_memory"))
}

// redisMemory returns a row of INFO memory in bytes.
func redisMemory(t *testing.T, server *redistest.Server, row string) int64 {
	t.Helper()
	_, after, _ := strings.Cut(server.CLI("INFO", "memory"), row+":")
	n, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// redisLengths adds up all keys and values.
func redisLengths(t *testing.T, server *redistest.Server) int {
	t.Helper()
	n, err := strconv.Atoi(server.CLI("EVAL", `local sum, from = 0, '0'
repeat
	local page = redis.call('SCAN', from, 'COUNT', 1000)
	from = page[1]
	for _, key in ipairs(page[2]) do
		sum = sum + #key
		if redis.call('TYPE', key).ok == 'string' then
			sum = sum + redis.call('STRLEN', key)
		else
			for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
				sum = sum + #member
			end
		end
	end
until from == '0'
return sum`, "0"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
