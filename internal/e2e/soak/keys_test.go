package soak

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// tenantsSite limits by a header field which clients choose.
const tenantsSite = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		level ERROR
	}
	gatehouse {
		issuer http://$ID
		store bolt $DIR/state.db
		users file $DIR/users.json
		limiter memory {
			size $SIZE
		}
	}
}
http://$ID {
	oauth_server
}
http://$API {
	api_limit {
		by tenant {http.request.header.X-T} 20 1h
	}
	respond ok
}
`

// N11: what tenants that clients make up cost, and whom they keep out: as many as there is
// room for, and as many again, of which one in a hundred is greedy.
func TestKeysChosenByClients(t *testing.T) {
	collectOften(t)
	room, size := times(20_000, 1_000_000), "2MiB"
	if inSoak() {
		size = "72MiB"
	}
	s := &site{Gateway: harness.Prepare(t, "$SIZE", size)}
	s.WriteFile(t, "users.json", users)
	p := s.Run(t, tenantsSite)
	address := strings.Replace(strings.TrimPrefix(s.API, "http://"), "localhost", "127.0.0.1", 1)
	metric := func(name string) float64 { return s.Metric(t, "caddy_gatehouse_limiter_memory_"+name) }

	s.tenants(t, address, "warm", 2000, 1) // the heap finds its size
	before := residentMemory(t, p.PID())
	begun := time.Now()
	s.tenants(t, address, "first", room, 1)
	full := residentMemory(t, p.PID())
	t.Logf("%d tenants in %v: %d MiB resident before, %d MiB after; %.0f keys in %.1f MiB of %.0f", room,
		time.Since(begun).Round(time.Second), before>>20, full>>20, metric("keys"), metric("bytes")/(1<<20), metric("max_bytes")/(1<<20))

	// One request each, and of every hundredth as many again as it may send.
	const batches = 100
	var refused, admitted, over int
	for batch := range batches {
		name := fmt.Sprint("greedy", batch)
		if got := s.tenants(t, address, name, room/100/batches, 40); got[http.StatusOK] > 20*(room/100/batches) {
			over++
		}
		got := s.tenants(t, address, fmt.Sprint("second", batch), room*99/100/batches, 1)
		admitted += got[http.StatusOK]
		refused += got[http.StatusTooManyRequests]
	}
	after := residentMemory(t, p.PID())
	t.Logf("as many again: %d of %d well-behaved were refused (%.2f %%); %d MiB resident; %.0f folded", refused, refused+admitted,
		100*float64(refused)/float64(refused+admitted), after>>20, metric("folded_callers_total"))
	if refused*100 > refused+admitted {
		t.Error("more than one in a hundred was refused")
	}
	if over > 0 {
		t.Errorf("greedy tenants of %d batches exceeded their limit", over)
	}
	if metric("bytes") > metric("max_bytes") || metric("folded_callers_total") < float64(room)/2 {
		t.Errorf("%v bytes of %v, %v folded", metric("bytes"), metric("max_bytes"), metric("folded_callers_total"))
	}
	if most := int64(metric("max_bytes"))*5/2 + 32<<20; after-before > most {
		t.Errorf("%d MiB more are resident, at most %d are accepted", (after-before)>>20, most>>20)
	}
}

// tenants has n of them send so many requests each, and counts the statuses.
func (s *site) tenants(t *testing.T, address, name string, n, each int) map[int]int {
	t.Helper()
	total := map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for part := range connections {
		wg.Go(func() {
			statuses, err := pipeline(address, (n-part+connections-1)/connections*each, func(i int) string {
				return fmt.Sprintf("GET / HTTP/1.1\r\nHost: %s\r\nX-T: %s-%d\r\n\r\n", strings.TrimPrefix(s.API, "http://"), name, i/each*connections+part)
			})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for status, n := range statuses {
				total[status] += n
			}
		})
	}
	wg.Wait()
	return total
}

// pipeline sends n requests over one connection without waiting, and counts the statuses.
func pipeline(address string, n int, request func(i int) string) (map[int]int, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(10 * time.Minute)); err != nil {
		return nil, err
	}
	sent := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(c)
		for i := range n {
			if _, err := w.WriteString(request(i)); err != nil {
				sent <- err
				return
			}
		}
		sent <- w.Flush()
	}()
	statuses := map[int]int{}
	r := bufio.NewReader(c)
	for range n {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return statuses, err
		}
		statuses[res.StatusCode]++
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return statuses, err
		}
	}
	return statuses, <-sent
}
