package proxying

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Several servers behind api_proxy.
const several = "{\n" + harness.Quiet + "\n}\nhttp://$ID, http://$API {\n\tmetrics /metrics\n\tapi_proxy $FIRST $SECOND {\n\t\t$WORDS\n\t}\n}\n"

func startSeveral(t *testing.T, first, second, words string) *harness.Gateway {
	t.Helper()
	return harness.Start(t, several, "$FIRST", first, "$SECOND", second, "$WORDS", words)
}

func TestLoadBalancingSkipsDownServers(t *testing.T) {
	for _, policy := range []string{"round_robin", "least_conn"} {
		t.Run(policy, func(t *testing.T) {
			asked := make(chan string, 1)
			serve := func(name string) *server {
				s := newServer(t, "tcp", "127.0.0.1:0")
				s.answerWith(func(r *http.Request, body string) string {
					asked <- name + " " + r.Method + " " + body
					return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
				})
				return s
			}
			first, second := serve("first"), serve("second")
			g := startSeveral(t, first.Addr().String(), second.Addr().String(), "lb_policy "+policy+"\n\t\tfail_duration 1m")
			count := map[string]int{}
			for range 10 {
				if status, _ := harness.Get(t, g.API); status != http.StatusOK {
					t.Fatal(status)
				}
				count[<-asked]++
			}
			if count["first GET "] != 5 && policy == "round_robin" {
				t.Error(count)
			}
			_ = second.Close()
			for range 6 {
				p := harness.Send(t, http.DefaultClient, http.MethodPost, g.API, "hi")
				if got := <-asked; p.Status != http.StatusOK || got != "first POST hi" {
					t.Fatal(p.Status, got)
				}
			}
			_ = first.Close()
			if status, _ := harness.Get(t, g.API); status != http.StatusBadGateway {
				t.Error("nobody listens:", status)
			}
			revived := newServer(t, "tcp", second.Addr().String())
			revived.answerWith(func(*http.Request, string) string { return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" })
			if status, _ := harness.Get(t, g.API); status != http.StatusOK {
				t.Error("servers that were left out are asked when there is no other:", status)
			}
		})
	}
}

// With least_conn, requests go to the server with the fewest in progress, whoever's turn it is.
func TestLeastConnAvoidsTheBusyServer(t *testing.T) {
	asked, release := make(chan string, 1), make(chan bool)
	serve := func(name string) string {
		s := newServer(t, "tcp", "127.0.0.1:0")
		s.answerWith(func(r *http.Request, _ string) string {
			asked <- name
			if r.URL.Path == "/slow" {
				<-release
			}
			return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
		})
		return s.Addr().String()
	}
	g := startSeveral(t, serve("first"), serve("second"), "lb_policy least_conn")
	slow := make(chan int, 2)
	begin := func() string {
		go func() {
			status, _ := harness.Get(t, g.API+"/slow")
			slow <- status
		}()
		return <-asked
	}
	busy := begin()
	for range 8 {
		if status, _ := harness.Get(t, g.API); status != http.StatusOK {
			t.Fatal(status)
		}
		if idle := <-asked; idle == busy {
			t.Error(idle, "is asked though the other server has nothing to do")
		}
	}
	if other := begin(); other == busy {
		t.Error("two slow requests are sent to", other)
	}
	close(release)
	for range 2 {
		if status := <-slow; status != http.StatusOK {
			t.Error(status)
		}
	}
	var both []string // have nothing to do now
	for range 4 {
		harness.Get(t, g.API)
		both = append(both, <-asked)
	}
	if !slices.Contains(both, "first") || !slices.Contains(both, "second") {
		t.Error("afterwards all requests are sent to", both)
	}
}

// One failed dial leaves a server out for fail_duration and is counted; then it is tried again.
func TestUnreachableServerIsLeftOutForAWhile(t *testing.T) {
	first, second := newServer(t, "tcp", "127.0.0.1:0"), newServer(t, "tcp", "127.0.0.1:0")
	answer := func(name string) func(*http.Request, string) string {
		return func(*http.Request, string) string {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(name), name)
		}
	}
	first.answerWith(answer("first"))
	down := second.Addr().String()
	_ = second.Close()
	g := startSeveral(t, first.Addr().String(), down, "fail_duration 2s")
	failures := func() float64 {
		return g.Metric(t, `caddy_gatehouse_upstream_dial_failures_total{upstream="`+down+`"}`)
	}
	if n := failures(); n != 0 {
		t.Error("failures before any request:", n)
	}
	begun := time.Now()
	for range 10 {
		if status, body := harness.Get(t, g.API); status != http.StatusOK || body != "first" {
			t.Fatal(status, body)
		}
	}
	if n := failures(); n != 1 && time.Since(begun) < 2*time.Second {
		t.Error("a server that is left out was dialed", n, "times")
	}
	if n := g.Metric(t, `caddy_gatehouse_upstream_dial_failures_total{upstream="`+first.Addr().String()+`"}`); n != 0 {
		t.Error("failures of the server that answers:", n)
	}
	newServer(t, "tcp", down).answerWith(answer("second"))
	within(t, 10*time.Second, "the return of the server", func() {
		for body := ""; body != "second"; _, body = harness.Get(t, g.API) {
			time.Sleep(50 * time.Millisecond)
		}
	})
	if time.Since(begun) < 2*time.Second {
		t.Error("it is asked again after", time.Since(begun))
	}
}

// A server that has received a request may have acted on it: no other server is asked, and it is not left out.
func TestReceivedRequestIsNotSentToAnotherServer(t *testing.T) {
	for name, answer := range map[string]string{"says nothing": "", "is cut off in the head": "HTTP/1.1 200 OK\r\nConte", "speaks something else": "SSH-2.0-OpenSSH\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			received := make(chan string, 10)
			serve := func() string {
				s := newServer(t, "tcp", "127.0.0.1:0")
				s.handleWith(func(c net.Conn, in *bufio.Reader) {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					received <- r.Method + " " + s.Addr().String()
					_, _ = io.WriteString(c, answer)
				})
				return s.Addr().String()
			}
			g := startSeveral(t, serve(), serve(), "")
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				servers := make(map[string]bool)
				for range 2 {
					if p := harness.Send(t, http.DefaultClient, method, g.API, ""); p.Status != http.StatusBadGateway {
						t.Error(method, p.Status)
					}
					servers[<-received] = true
					if len(received) > 0 {
						t.Error(method, "was also received by", <-received)
					}
				}
				if len(servers) != 2 {
					t.Error("not both servers are asked in turn:", servers)
				}
			}
		})
	}
}
