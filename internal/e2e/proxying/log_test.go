package proxying

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// logging has each proxy log the placeholders that api_proxy sets.
const logging = `{
` + harness.Quiet + `
	auto_https off
}
(logged) {
	log {
		output file {args[0]}
	}
	log_append address {http.reverse_proxy.upstream.address}
	log_append hostport {http.reverse_proxy.upstream.hostport}
	log_append latency {http.reverse_proxy.upstream.latency_ms}
	log_append duration {http.reverse_proxy.upstream.duration_ms}
	log_append code {http.reverse_proxy.status_code}
	log_append retries {http.reverse_proxy.retries}
}
http://$ID {
	import logged $DIR/reverse_proxy.log
	reverse_proxy $SERVERS {
		lb_policy round_robin
		$RETRIES
	}
}
http://$API {
	import logged $DIR/api_proxy.log
	api_proxy $SERVERS
}
`

// entry is a line of such a log. What is not known is nil.
type entry struct {
	Address  string `json:"address"`
	Hostport string `json:"hostport"`
	Latency  any    `json:"latency"`
	Duration any    `json:"duration"`
	Code     any    `json:"code"`
	Retries  any    `json:"retries"`
}

func TestBothProxiesLogTheSame(t *testing.T) {
	s := newServer(t, "tcp", "127.0.0.1:0")
	s.handleWith(func(c net.Conn, in *bufio.Reader) {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		time.Sleep(60 * time.Millisecond)
		_, _ = io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhi")
		time.Sleep(60 * time.Millisecond)
		_, _ = io.WriteString(c, "ho")
	})
	up := s.Addr().String()
	closed := newServer(t, "tcp", "127.0.0.1:0")
	down := closed.Addr().String()
	_ = closed.Close()
	for name, c := range map[string]struct {
		servers string
		retries string // of reverse_proxy
		want    entry
	}{
		"answered":                      {up, "", entry{Address: up, Hostport: up, Code: 201.0, Retries: 0.0}},
		"the other server is not there": {down + " " + up, "lb_retries 1", entry{Address: up, Hostport: up, Code: 201.0, Retries: 1.0}},
		"there is no server":            {down, "", entry{Address: down, Hostport: down, Retries: 0.0}},
	} {
		t.Run(name, func(t *testing.T) {
			g := harness.Start(t, logging, "$SERVERS", c.servers, "$RETRIES", c.retries)
			for proxy, site := range map[string]string{"reverse_proxy": g.ID, "api_proxy": g.API} {
				var got entry
				for range 2 { // of two servers, each has its turn first
					harness.Get(t, site)
				}
				for _, e := range readEntries(t, filepath.Join(g.Dir, proxy+".log"), 2) {
					if got == (entry{}) || e.Retries == c.want.Retries {
						got = e
					}
				}
				if c.want.Code != nil {
					latency, _ := got.Latency.(float64)
					duration, _ := got.Duration.(float64)
					if latency < 60 || duration < latency+50 {
						t.Errorf("%s: latency %v, duration %v", proxy, got.Latency, got.Duration)
					}
					got.Latency, got.Duration = nil, nil
				}
				got.Address = strings.TrimPrefix(got.Address, "tcp/") // which reverse_proxy puts before what is configured
				if got != c.want {
					t.Errorf("%s logs %+v, want %+v", proxy, got, c.want)
				}
			}
		})
	}
}

// readEntries waits for lines of a log.
func readEntries(t *testing.T, file string, n int) (entries []entry) {
	t.Helper()
	within(t, 10*time.Second, fmt.Sprint(n, " lines in ", file), func() {
		for len(entries) < n {
			time.Sleep(10 * time.Millisecond)
			text, err := os.Open(file)
			if err != nil {
				continue
			}
			entries = nil
			for d := json.NewDecoder(text); ; {
				var e entry
				if d.Decode(&e) != nil {
					break
				}
				entries = append(entries, e)
			}
			_ = text.Close()
		}
	})
	return entries
}
