package proxying

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Bodies of 10 GB, of 64 MiB in the short form, pass without being kept in memory.
func TestBodiesLargerThanMemory(t *testing.T) {
	size := int64(64 << 20)
	if soak() {
		size = 10 << 30
	}
	s := start(t, "", "")
	s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			n, err := io.Copy(io.Discard, r.Body)
			if err != nil {
				return
			}
			if r.Method == http.MethodPut {
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Got: %d\r\n\r\n", n)
				continue
			}
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
			_, _ = io.CopyN(c, zeros{}, size)
		}
	})
	s.onBoth(t, func(t *testing.T, site string) {
		before := heap()
		for _, length := range []int64{size, -1} {
			r, err := http.NewRequest(http.MethodPut, site, io.LimitReader(zeros{}, size))
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = length
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if got := res.Header.Get("X-Got"); got != fmt.Sprint(size) {
				t.Errorf("the server got %s of %d bytes", got, size)
			}
		}
		res, err := http.Get(site)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if n != size || err != nil {
			t.Errorf("the client got %d of %d bytes: %v", n, size, err)
		}
		if now := heap(); now > before+32<<20 {
			t.Errorf("%d MiB are in use, %d before", now>>20, before>>20)
		}
	})
}

// heap is the memory in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// 10,000 clients, 500 in the short form, keep their connections; each of them is answered again. The
// gateway runs in a process of its own, since a process may not have so many connections at both ends.
func TestManyIdleConnections(t *testing.T) {
	clients := 500
	if soak() {
		clients = 10_000
	}
	up := harness.NewUpstream(t)
	g := harness.Prepare(t, "$SERVER", up.Addr, "$GLOBAL", "", "$WORDS", "")
	g.Run(t, caddyfile)
	for name, site := range map[string]string{"reverse_proxy": g.ID, "api_proxy": g.API} {
		t.Run(name, func(t *testing.T) {
			all := make([]net.Conn, clients)
			for i := range all {
				all[i] = harness.Dial(t, site)
				_ = all[i].SetDeadline(time.Now().Add(5 * time.Minute))
			}
			for range 2 {
				for some := range slices.Chunk(all, 100) { // more at a time need as many connections to the server
					for _, c := range some {
						fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host(t, site))
					}
					for _, c := range some {
						if p := harness.ReadAnswer(t, bufio.NewReader(c), http.MethodGet); p.Status != http.StatusOK {
							t.Fatal(p.Status)
						}
					}
				}
				up.Hits()
			}
			for _, c := range all {
				_ = c.Close()
			}
		})
	}
}
