package growth

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/store/bolt"
)

// What live grants take of memory: none of a node's own, the pages of a bolt file that the node has looked at, which the
// system takes back when it needs memory, and what Redis keeps.
func TestLiveGrantMemory(t *testing.T) {
	t.Setenv("GOGC", "100")
	sample, n := signInOnce(t)[store.KindGrant], size(500, 100_000)
	server := redistest.Start(t)
	inRedis := redisBackend(t, server)
	copyFor(t, inRedis, sample, 200) // what connections and scripts take
	server.CLI("FLUSHALL")
	// fill puts n grants into a store. It returns the store's configuration, how many bytes the store takes, and how many of
	// them are resident: pages of a bolt file are the node's.
	for name, fill := range map[string]func(n int) (configuration string, used, resident int64){
		"bolt": func(n int) (string, int64, int64) {
			path := filepath.Join(t.TempDir(), "state.db")
			b, err := bolt.Open(bolt.Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			copyFor(t, b, sample, n)
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			return "bolt " + path, fileSize(t, path), 0
		},
		"Redis": func(n int) (string, int64, int64) {
			copyFor(t, inRedis, sample, n)
			return "redis " + server.URL() + " {\n timeout 1s\n}", redisMemory(t, server, "used_memory"), redisMemory(t, server, "used_memory_rss")
		},
	} {
		var anonymous, ofFiles, used, resident [2]int64
		for i, grants := range []int{0, n} {
			configuration, u, r := fill(grants)
			s := startNode(t, 0, "$STORE", configuration)
			s.token(t, clientCredentials)
			s.heap(t)
			used[i], resident[i] = u, r
			anonymous[i], ofFiles[i] = memoryOf(t, s.PID(), "RssAnon"), memoryOf(t, s.PID(), "RssFile")
			s.Stop()
		}
		t.Logf("| %d live grants in %s, KiB | the store %d, resident %d | a node's own memory %d, pages of files %d |", n, name,
			(used[1]-used[0])>>10, (resident[1]-resident[0])>>10, (anonymous[1]-anonymous[0])>>10, (ofFiles[1]-ofFiles[0])>>10)
		if grown := anonymous[1] - anonymous[0]; grown > 32<<20 {
			t.Errorf("%s: %d MiB of memory for %d grants that nobody uses", name, grown>>20, n)
		}
	}
}

// memoryOf returns a row of /proc/PID/status in bytes.
func memoryOf(t *testing.T, pid int, row string) int64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(raw), row+":")
	var kib int64
	if _, err := fmt.Sscan(after, &kib); err != nil {
		t.Fatalf("%s: %v", row, err)
	}
	return kib << 10
}

// What the token endpoint costs by grant, with either store. The time of Redis is not in it.
func TestCPUOfTheTokenEndpoint(t *testing.T) {
	const each = 20 // codes of a user: what many grants of one cost is another question
	n := size(each, 30*each)
	server := redistest.Start(t)
	for _, backend := range [][2]string{{"bolt", "bolt $DIR/state.db"}, {"Redis", "redis " + server.URL() + " {\n timeout 1s\n}"}} {
		s := startNode(t, n/each, "$STORE", backend[1])
		code := func(b *harness.Browser, user int) url.Values {
			at := b.Authorize(s.ID+"/authorize?"+authorization.Encode(), "user"+strconv.Itoa(user), harness.Password)
			return url.Values{
				"grant_type": {"authorization_code"}, "code": {at.Query().Get("code")}, "redirect_uri": {"https://client.example/cb"}, "code_verifier": {harness.Verifier},
			}
		}
		s.token(t, clientCredentials)

		begun := s.cpu(t)
		for range n {
			s.token(t, clientCredentials)
		}
		credentials := s.cpu(t) - begun

		var redeeming, refreshing time.Duration
		for user := range n / each {
			b := harness.NewBrowser(t, s.ID)
			codes, refresh := make([]url.Values, each), make([]string, each)
			for i := range codes {
				codes[i] = code(b, user) // the first one signs in
			}
			begun = s.cpu(t)
			for i, c := range codes {
				_, refresh[i] = s.token(t, c)
			}
			redeeming += s.cpu(t) - begun
			begun = s.cpu(t)
			for _, r := range refresh {
				s.token(t, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {r}})
			}
			refreshing += s.cpu(t) - begun
		}
		t.Logf("| /token with %s, µs of CPU | client credentials %d | code %d | refresh %d |", backend[0],
			credentials.Microseconds()/int64(n), redeeming.Microseconds()/int64(n), refreshing.Microseconds()/int64(n))
		s.Stop()
	}
}
