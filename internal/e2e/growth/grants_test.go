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

// What live grants in a bolt file take of a node's memory: none of its own, and the pages of the file that it has
// looked at. The system takes those back when it needs memory.
func TestLiveGrantMemory(t *testing.T) {
	t.Setenv("GOGC", "100")
	sample := signInOnce(t)[store.KindGrant]
	resident := func(n int) (anonymous, ofFiles, file int64) {
		path := filepath.Join(t.TempDir(), "state.db")
		b, err := bolt.Open(bolt.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		copyFor(t, b, sample, n)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		s := startNode(t, 0, "$STORE", "bolt "+path)
		defer s.Stop()
		s.token(t, clientCredentials)
		s.heap(t)
		return memoryOf(t, s.PID(), "RssAnon"), memoryOf(t, s.PID(), "RssFile"), fileSize(t, path)
	}
	n := size(500, 100_000)
	noneAnonymous, noneOfFiles, _ := resident(0)
	anonymous, ofFiles, file := resident(n)
	t.Logf("| %d live grants in bolt | a file of %d KiB | %d KiB of a node's own memory, %d KiB of pages of files |",
		n, file>>10, (anonymous-noneAnonymous)>>10, (ofFiles-noneOfFiles)>>10)
	if grown := anonymous - noneAnonymous; grown > 32<<20 {
		t.Errorf("%d MiB of memory for %d grants that nobody uses", grown>>20, n)
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
