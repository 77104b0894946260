package gateway

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// More connections at /token than can be answered in time: some requests are refused at
// once, in the form of their endpoint, others are answered, and guards go on with the tokens
// they know. The gateway has one processor, however many the machine has.
func TestOverloadRefusesWhatCannotBeAnsweredInTime(t *testing.T) { // N10
	t.Setenv("GOMAXPROCS", "1")
	g := startApart(t, site, "$GLOBAL", wxClients)
	p := g.Token(t, machine, map[string][]string{"grant_type": {"client_credentials"}, "scope": {"read"}})
	access, _ := wantTokens(t, p)
	if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}

	crowd := newCrowd(t, g.ID, 400)
	for crowd.refused.Load() < 500 { // the overload is there
		time.Sleep(20 * time.Millisecond)
		if crowd.admitted.Load() > 200_000 {
			t.Error("nothing is refused")
			break
		}
	}
	var wg sync.WaitGroup
	known := 0
	wg.Go(func() {
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); known++ {
			if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
				t.Errorf("a token that the guard knows: %d %s", p.Status, p.Body)
				return
			}
		}
	})
	for path, is := range map[string]func(harness.Page) bool{
		"/authorize?client_id=web": func(p harness.Page) bool { return strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") },
		"/nothing":                 func(p harness.Page) bool { return strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") },
		"/sns/auth":                func(p harness.Page) bool { return p.JSON(t)["errcode"] == -1.0 },
		metadataPath:               func(p harness.Page) bool { return p.JSON(t)["error"] == "temporarily_unavailable" },
	} {
		wg.Go(func() {
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
				p := harness.NewBrowser(t, g.ID).Get(g.ID + path)
				if p.Status == http.StatusServiceUnavailable {
					if !is(p) || !wellRefused(p) {
						t.Errorf("%s: %v %.300s", path, p.Header, p.Body)
					}
					return
				}
			}
			t.Errorf("%s is never refused", path)
		})
	}
	wg.Wait()
	crowd.stop()
	admitted, refused := crowd.admitted.Load(), crowd.refused.Load()
	t.Logf("%d admitted, %d refused; %d requests with a known token", admitted, refused, known)
	if admitted == 0 || refused == 0 || known == 0 {
		t.Error("not both")
	}
	if n := g.Metric(t, `caddy_gatehouse_overload_refused_requests_total{class="client"}`); int64(n) < refused {
		t.Errorf("the metric counts %v of %d", n, refused)
	}
	for range 50 {
		if p := g.Token(t, machine, map[string][]string{"grant_type": {"client_credentials"}, "scope": {"read"}}); p.Status != http.StatusOK {
			t.Fatalf("afterwards: %d %s", p.Status, p.Body)
		}
	}
}

// wellRefused reports whether a refusal has what all of them have.
func wellRefused(p harness.Page) bool {
	retry, err := strconv.Atoi(p.Header.Get("Retry-After"))
	return err == nil && retry >= 1 && retry <= 10 && p.Header.Get("Cache-Control") == "no-store" &&
		p.Header.Get("X-Content-Type-Options") == "nosniff"
}

// crowd are connections that ask for a token again and again without a pause.
type crowd struct {
	stopped           atomic.Bool
	wg                sync.WaitGroup
	admitted, refused atomic.Int64
}

func newCrowd(t *testing.T, site string, connections int) *crowd {
	t.Helper()
	c := new(crowd)
	t.Cleanup(c.stop)
	for range connections {
		c.wg.Go(func() {
			if err := c.ask(site); err != nil {
				t.Error(err)
			}
		})
	}
	return c
}

func (c *crowd) stop() {
	c.stopped.Store(true)
	c.wg.Wait()
}

func (c *crowd) ask(site string) error {
	conn, host, err := dial(site)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	r := bufio.NewReaderSize(conn, 2048)
	const form = "grant_type=client_credentials&scope=read"
	request := fmt.Sprintf("POST /token HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nAuthorization: Basic %s\r\nContent-Length: %d\r\n\r\n%s",
		host, formType, base64.StdEncoding.EncodeToString([]byte(machine.ID+":"+machine.Secret)), len(form), form)
	for !c.stopped.Load() {
		if _, err := io.WriteString(conn, request); err != nil {
			return err
		}
		p, err := readPage(r, http.MethodPost)
		switch {
		case err != nil:
			return err
		case p.Status == http.StatusOK:
			c.admitted.Add(1)
		case p.Status == http.StatusServiceUnavailable && wellRefused(p) && strings.Contains(p.Body, `"error":"temporarily_unavailable"`):
			c.refused.Add(1)
		default:
			return fmt.Errorf("%d %v %s", p.Status, p.Header, p.Body)
		}
	}
	return nil
}
