package soak

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// growth is how much memory a list may take on its way, however long it is.
const growth = 32 << 20

// streamed is what a long answer took.
type streamed struct {
	bytes int64
	cpu   time.Duration
	took  time.Duration
	most  int64 // of the resident memory while it came
}

func (s streamed) perMB() float64 { return float64(s.cpu.Microseconds()) / (float64(s.bytes) / 1e6) }

// stream reads an answer to its end and watches the process.
func stream(t *testing.T, p *harness.Process, address string, sees func([]byte)) streamed {
	t.Helper()
	before, begun := cpuTime(t, p.PID()), time.Now()
	client := newClient(t, nil)
	client.Timeout = 0
	res, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", address, res.Status)
	}
	var done atomic.Bool
	peak := make(chan int64)
	go func() {
		var most int64
		for !done.Load() {
			most = max(most, residentMemory(t, p.PID()))
			time.Sleep(5 * time.Millisecond)
		}
		peak <- most
	}()
	buffer := make([]byte, 256<<10)
	var n int64
	for err == nil {
		var k int
		k, err = res.Body.Read(buffer)
		n += int64(k)
		sees(buffer[:k])
	}
	done.Store(true)
	most := <-peak
	if err != io.EOF {
		t.Fatalf("%s: after %d bytes: %v", address, n, err)
	}
	return streamed{n, cpuTime(t, p.PID()) - before, time.Since(begun), most}
}

// A list of 64 MiB, in a soak of 1 GiB, is translated as it passes: in little memory, and
// for a processor time that stands beside that of the same bytes passed untouched.
func TestATranslatedListStreamsInLittleMemory(t *testing.T) {
	collectOften(t)
	size := times(64, 1024) << 20
	s, p := restSite(t, startUpstream(t), size)
	const query = "?limit=100000000"
	plain, own := s.API+fmt.Sprintf("/untouched/list?bytes=%d", size), s.API+"/heaps"+query
	stream(t, p, s.API+"/things"+query, func([]byte) {}) // warms up
	idle := s.footprint(t, p.PID()).resident

	var table strings.Builder
	var passed, translated []streamed
	for range times(2, 2) {
		passed = append(passed, stream(t, p, plain, func([]byte) {}))
		var head, tail []byte
		large := 0
		got := stream(t, p, own, func(b []byte) {
			if len(head) < 1000 {
				head = append(head, b...)
			}
			tail = append(tail, b...)
			if len(tail) > 4096 {
				tail = tail[len(tail)-4096:]
			}
			large += strings.Count(string(b), "9223372036854775807")
		})
		const first = `{"data":[{"id":1000,"title":"Notes on railway bridges, part 1","body":"Everything there is to say: notes on railway bridges.","tags":"history,town","state":"published","author":"u-1001","serial":9223372036854775807,"created_at":1704096000,"links":[{"rel":"self","method":"GET","href":"/heaps/1000"}]},{"id":1001,`
		const last = `],"pagination":{"total":100000000,"page":1,"limit":100000000,"total_pages":1}}`
		if !strings.HasPrefix(string(head), first) || !strings.HasSuffix(string(tail), last) || large < size/250 {
			t.Errorf("%.400s ... %s; %d large numbers", head, tail[max(0, len(tail)-200):], large)
		}
		translated = append(translated, got)
	}
	for name, all := range map[string][]streamed{"untouched": passed, "translated": translated} {
		most := int64(0)
		for _, one := range all {
			most = max(most, one.most)
		}
		fmt.Fprintf(&table, "%-11s %5.0f MB %7.0f us of CPU a MB %6.0f MB/s, at most %3.1f MiB above the idle %.1f MiB\n", name,
			float64(all[0].bytes)/1e6, medianOf(all, streamed.perMB), medianOf(all, func(s streamed) float64 { return float64(s.bytes) / 1e6 / s.took.Seconds() }),
			float64(most-idle)/(1<<20), float64(idle)/(1<<20))
		if most-idle > growth {
			t.Errorf("%s: %d MiB more than when idle, at most %d are accepted", name, (most-idle)>>20, growth>>20)
		}
	}
	t.Log("\n" + table.String())
}
