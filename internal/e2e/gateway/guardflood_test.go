package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// heap is what is in use after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// flood sends requests over one connection and returns how many had which status.
func flood(t *testing.T, site string, n int, request func(i int) string) map[int]int {
	t.Helper()
	c := harness.Dial(t, site)
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil { // a busy machine is slow
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(c)
		for i := range n {
			if _, err := w.WriteString(request(i)); err != nil {
				failed <- err
				return
			}
		}
		failed <- w.Flush()
	}()
	statuses := map[int]int{}
	from := bufio.NewReader(c)
	for range n {
		res, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatalf("%v after %v", err, statuses)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		statuses[res.StatusCode]++
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return statuses
}

func TestFloodsOfBadTokensCostNoMemory(t *testing.T) {
	g, up, m := startFaulty(t)
	f := newForger(t, g, m)
	host := strings.TrimPrefix(g.API, "http://")
	request := func(header string) string {
		return fmt.Sprintf("GET /read HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\n%s\r\n\r\n", host, somebody(), header)
	}
	flood(t, g.API, 200, func(int) string { return request("Authorization: Bearer x.y.z") })
	t.Run("G19 15 KiB of dots", func(t *testing.T) {
		dots := strings.Repeat(".", 15<<10)
		before := heap()
		if got := flood(t, g.API, 1000, func(int) string { return request("Authorization: Bearer " + dots) }); got[http.StatusUnauthorized] != 1000 {
			t.Errorf("%v", got)
		}
		if grown := heap() - before; grown > 4<<20 {
			t.Errorf("the heap grew by %d bytes", grown)
		}
		wantHits(t, up, 0)
	})
	t.Run("G25 ever new invalid tokens", func(t *testing.T) {
		genuine := f.token(nil)
		stem := genuine[:strings.LastIndex(genuine, ".")]
		before := heap()
		if got := flood(t, g.API, 3000, func(i int) string { return request(fmt.Sprintf("Authorization: Bearer %s.%086d", stem, i)) }); got[http.StatusUnauthorized] != 3000 {
			t.Errorf("%v", got)
		}
		if grown := heap() - before; grown > 8<<20 {
			t.Errorf("the heap grew by %d bytes", grown)
		}
		wantHits(t, up, 0)
		if p := bearer(t, g, "/read", genuine); p.Status != http.StatusOK {
			t.Errorf("a genuine one: %d", p.Status)
		}
		wantHits(t, up, 1)
	})
	t.Run("G20 10,000 cookies", func(t *testing.T) {
		before := heap()
		p := harness.Wire(t, g.API, "GET /read", "Cookie: "+strings.Repeat("a=b; ", 10_000))
		if p.Status != http.StatusUnauthorized && p.Status != http.StatusRequestHeaderFieldsTooLarge && p.Status != http.StatusBadRequest {
			t.Errorf("%d", p.Status)
		}
		if grown := heap() - before; grown > 4<<20 {
			t.Errorf("the heap grew by %d bytes", grown)
		}
		wantHits(t, up, 0)
	})
	t.Run("G20 two megabytes of headers", func(t *testing.T) {
		p := harness.Wire(t, g.API, "GET /public", "X-Large: "+strings.Repeat("a", 1<<20+8192))
		if p.Status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%d", p.Status)
		}
		wantHits(t, up, 0)
	})
}
