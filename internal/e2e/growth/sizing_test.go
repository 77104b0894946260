package growth

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	bbolt "go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// kinds are the records that the sizing page speaks of, by the kind under which they are stored.
var kinds = map[string]string{
	"user": "user, `users store`", "username": "name of a user, `users store`", "client": "client in the store", "origin": "origin of a client in the store", "grant": "live grant", "code": "used code",
	"session": "session", "consent": "consent", "revocation": "revocation", "ending": "end of all grants of a user",
}

// populate makes n of each record.
func (s *node) populate(t *testing.T, n int) {
	t.Helper()
	inParallel(2, n, func(i int) { // a node hashes few passwords at a time
		s.call(t, http.StatusCreated, http.MethodPost, s.Admin+"/gatehouse/clients",
			fmt.Sprintf(`{"id":"stored-%d","name":"Client Number %[1]d","origins":["https://c%[1]d.example"],"redirect_uris":["https://c%[1]d.example/cb"],"grants":["authorization_code","refresh_token"],"scopes":["read"]}`, i),
			"Content-Type", "application/json")
		text := s.call(t, http.StatusCreated, http.MethodPost, s.Admin+"/gatehouse/users",
			fmt.Sprintf(`{"username":"user%d","name":"User Number %[1]d","email":"user%[1]d@example.com","password":%[2]q}`, i, harness.Password),
			"Content-Type", "application/json")
		refresh := s.signIn(t, "user"+strconv.Itoa(i))
		switch i % 10 {
		case 0:
			s.revoke(t, refresh)
		case 1:
			var user struct{ ID string }
			if err := json.Unmarshal([]byte(text), &user); err != nil {
				t.Error(err)
			}
			s.call(t, http.StatusNoContent, http.MethodDelete, s.Admin+"/gatehouse/users/"+user.ID+"/grants", "")
		}
	})
}

func (s *node) revoke(t *testing.T, refresh string) {
	t.Helper()
	r, _ := http.NewRequest(http.MethodPost, s.ID, nil)
	r.SetBasicAuth(web.ID, web.Secret)
	s.call(t, http.StatusOK, http.MethodPost, s.ID+"/revoke", url.Values{"token": {refresh}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Authorization", r.Header.Get("Authorization"))
}

// What one record of each kind takes in the store, with its share of the indexes.
func TestStoredRecordSizes(t *testing.T) {
	n := size(16, 100)
	server := redistest.Start(t)
	s := startNode(t, 0, "$STORE", "redis "+server.URL()+" {\n timeout 1s\n}", "$LIMITER", "limiter redis "+server.URL()+" {\n timeout 1s\n}", "$USERS", "store")
	s.populate(t, n)
	access, _ := s.token(t, clientCredentials)
	inParallel(8, n, func(i int) { s.read(t, access, "tenant-"+strconv.Itoa(i)) })
	inRedis := redisRecords(t, server)
	s.Stop()

	s = startNode(t, 0, "$USERS", "store")
	s.populate(t, n)
	path := filepath.Join(s.Dir, "state.db")
	s.Stop()
	inBolt := boltRecords(t, path)

	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		r, b := inRedis[kind], inBolt[kind]
		if r.records == 0 && b.records == 0 {
			t.Errorf("there is no %s in the store", kinds[kind])
			continue
		}
		t.Logf("| %s | %d B in Redis, %d B in bolt |", kinds[kind], r.each(), b.each())
	}
	l := inRedis["limit"]
	if l.records < n {
		t.Errorf("Redis has %d keys of the limiter, want %d", l.records, n)
	}
	t.Logf("| caller of a policy, `limiter redis` | %d B in Redis |", l.each())
}

// usage counts the records of a kind, and their bytes.
type usage struct{ records, bytes int }

func (u usage) each() int { return u.bytes / max(1, u.records) }

// redisRecords asks the server for the memory of each key.
func redisRecords(t *testing.T, server *redistest.Server) map[string]usage {
	t.Helper()
	found := make(map[string]usage)
	for key := range strings.Lines(server.CLI("--scan")) {
		key = strings.TrimSpace(key)
		size, err := strconv.Atoi(strings.TrimSpace(server.CLI("MEMORY", "USAGE", key, "SAMPLES", "0")))
		if err != nil {
			continue // it has expired
		}
		kind, isRecord := redisKind(key)
		u := found[kind]
		u.bytes += size
		if isRecord {
			u.records++
		}
		found[kind] = u
	}
	return found
}

// redisKind returns the kind that a key belongs to, and whether it is a record and no index.
func redisKind(key string) (kind string, isRecord bool) {
	if _, after, ok := strings.Cut(key, "{w:"); ok { // a kind that nodes watch
		kind, rest, _ := strings.Cut(after, "}")
		return kind, strings.HasPrefix(rest, "r:")
	}
	if _, after, ok := strings.Cut(key, "{p:"); ok { // the children of a record
		kind, _, _ := strings.Cut(after, ":")
		return kind, false
	}
	if _, after, ok := strings.Cut(key, "limit:"); ok {
		return "limit", !strings.Contains(after, "#")
	}
	if _, after, ok := strings.Cut(key, "r:"); ok {
		kind, _, _ := strings.Cut(after, ":")
		return kind, true
	}
	return "", false
}

// boltRecords reads the file: its keys and values, without the half-empty pages between them.
func boltRecords(t *testing.T, path string) map[string]usage {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found := make(map[string]usage)
	err = db.View(func(tx *bbolt.Tx) error {
		for bucket, at := range map[string]int{"records": 0, "parents": 0, "expiry": 8} { // where the kind begins
			err := tx.Bucket([]byte(bucket)).ForEach(func(k, v []byte) error {
				length := int(binary.BigEndian.Uint16(k[at:]))
				kind := string(k[at+2 : at+2+length])
				u := found[kind]
				u.bytes += len(k) + len(v)
				if bucket == "records" {
					u.records++
				}
				found[kind] = u
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What one of each takes of the memory of a node.
func TestNodeMemory(t *testing.T) {
	few, many := size(500, 2000), size(1000, 22_000)
	one := func(what string, bytes int64, n int) {
		t.Logf("| %s | %d B in the memory of a node |", what, bytes/int64(n))
	}
	for _, c := range []struct {
		what string
		text func(n int) []string
	}{
		{"user in a users file", nil},
		{"client of the configuration", func(n int) []string {
			return []string{"$CLIENTS", repeat(n, "client c%d {\nsecret 0123456789-0123456789-0123456789-%[1]d\nredirect_uri https://c%[1]d.example/cb\nscopes read\n}\n")}
		}},
		{"rule of a guard", func(n int) []string { return []string{"$RULES", repeat(n, "scope read GET /r%d/*\n")} }},
	} {
		many := many
		if c.text != nil {
			many = min(many, 2*few)
		}
		at := func(n int) int64 {
			users, more := 0, []string(nil)
			if c.text == nil {
				users = n
			} else {
				more = c.text(n)
			}
			s := startNode(t, users, more...)
			defer s.Stop()
			if users > 0 {
				s.signIn(t, "user0") // the file is read when it is first used
			}
			return s.heap(t)
		}
		one(c.what, at(many)-at(few), many-few)
	}

	s := startNode(t, many)
	tokens := make([]string, many)
	inParallel(8, many, func(i int) { tokens[i], _ = s.token(t, clientCredentials) })
	for _, token := range tokens[:few] { // first what every node needs
		s.read(t, token, "first")
	}
	before := s.heap(t)
	inParallel(8, many-few, func(i int) { s.read(t, tokens[few+i], "first") })
	one("access token in the cache of verified tokens", s.heap(t)-before, many-few)

	inParallel(8, many, func(i int) { s.read(t, tokens[0], "tenant-"+strconv.Itoa(i)) })
	one("caller of a policy, `limiter memory`", int64(s.Metric(t, "caddy_gatehouse_limiter_memory_bytes")), many)

	revoked := few / 2
	refresh := make([]string, revoked)
	inParallel(2, revoked, func(i int) { refresh[i] = s.signIn(t, "user"+strconv.Itoa(i)) })
	before = s.heap(t)
	for _, r := range refresh {
		s.revoke(t, r)
	}
	one("revocation", s.heap(t)-before, revoked)
}

// What a request costs with few and with ten times as many tokens, callers and grants.
func TestCPUPerRequest(t *testing.T) {
	requests, few := size(500, 20_000), size(100, 1000)
	s := startNode(t, 10*few)
	tokens := make([]string, 10*few)
	measure := func(what string, n int, f func(i int)) {
		inParallel(8, requests/10, f) // connections and caches
		begun := s.cpu(t)
		inParallel(8, requests, f)
		t.Logf("| %s, %d tokens and callers | %d µs of CPU |", what, n, (s.cpu(t)-begun).Microseconds()/int64(requests))
	}
	for _, n := range []int{few, 10 * few} {
		inParallel(8, n, func(i int) {
			if tokens[i] == "" {
				tokens[i], _ = s.token(t, clientCredentials)
			}
		})
		measure("/token, client credentials", n, func(int) { s.token(t, clientCredentials) })
		measure("guarded and limited request", n, func(i int) { s.read(t, tokens[i%n], "tenant-"+strconv.Itoa(i%n)) })
	}
	grants := make(map[int]string)
	for i := range few / 10 {
		grants[i] = s.signIn(t, "user"+strconv.Itoa(i))
	}
	begun, rounds := s.cpu(t), 10
	for range rounds {
		for i, refresh := range grants {
			_, grants[i] = s.token(t, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
		}
	}
	t.Logf("| /token, refresh | %d µs of CPU |", (s.cpu(t)-begun).Microseconds()/int64(rounds*len(grants)))
}
