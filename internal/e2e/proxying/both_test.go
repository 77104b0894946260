package proxying

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestBothProxiesReturnTheSameAnswer(t *testing.T) {
	s := start(t, "", "")
	for name, answer := range map[string]string{
		"length":         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\nX-A: 2\r\nServer: its\r\n\r\nhi",
		"chunks":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\n\r\n",
		"trailer":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n2\r\nhi\r\n0\r\nSum: 7\r\n\r\n",
		"no body":        "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
		"not modified":   "HTTP/1.1 304 Not Modified\r\nEtag: \"a\"\r\n\r\n",
		"error":          "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nhi",
		"hop by hop":     "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive, x-own\r\nX-Own: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nAlt-Svc: h3\r\n\r\n",
		"empty value":    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A:\r\n\r\n",
		"Latin-1 value":  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A: caf\xe9\r\n\r\n",
		"odd status":     "HTTP/1.1 799 Own\r\nContent-Length: 2\r\n\r\nhi",
		"early hints":    "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		"cookies":        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n",
		"content coding": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Encoding: br\r\n\r\nabc",
	} {
		t.Run(name, func(t *testing.T) {
			s.server.answerWith(func(*http.Request, string) string { return answer })
			first := meaning(t, converse(t, s.ID, get))
			if second := meaning(t, converse(t, s.API, get)); first != second {
				t.Errorf("reverse_proxy answers\n%s\nand api_proxy\n%s", first, second)
			}
		})
	}
}

func TestBothProxiesSendTheSameRequest(t *testing.T) {
	for name, global := range map[string]string{"trusts nobody": "", "trusts this machine": "servers {\n\t\ttrusted_proxies static 127.0.0.0/8\n\t}"} {
		t.Run(name, func(t *testing.T) {
			s := start(t, global, "")
			got := make(chan string, 1)
			s.server.answerWith(func(r *http.Request, body string) string {
				h := r.Header.Clone()
				h.Set("Via", strings.Join(h["Via"], ", "))
				h.Del("Accept-Encoding") // Go's transport asks for gzip when the client does not, and undoes it
				got <- fmt.Sprintf("%s %s %s %q %d %v %v %v", r.Method, r.RequestURI, strings.Split(r.Host, ":")[0], body, r.ContentLength, r.TransferEncoding, r.Trailer, h)
				return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
			})
			for name, request := range map[string]string{
				"plain":        get,
				"fields":       "GET / HTTP/1.1\r\nHost: $HOST\r\nUser-Agent: me\r\nX-A: 1\r\nX-A: 2\r\nVia: 1.0 other\r\nConnection: close, x-own\r\nX-Own: 1\r\nTe: trailers, gzip\r\nProxy-Authorization: a\r\n\r\n",
				"forwarded":    "GET / HTTP/1.1\r\nHost: $HOST\r\nX-Forwarded-For: 10.0.0.1\r\nX-Forwarded-For: 10.0.0.2\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: other.test\r\nConnection: close\r\n\r\n",
				"length":       "PUT / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
				"empty":        "POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
				"chunks":       "POST / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2;a=b\r\nhi\r\n0\r\n\r\n",
				"trailer":      "POST / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\nTrailer: Sum\r\nConnection: close\r\n\r\n2\r\nhi\r\n0\r\nSum: 7\r\n\r\n",
				"with a body":  "DELETE /1 HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
				"own method":   "PURGE /1 HTTP/1.1\r\nHost: $HOST\r\nConnection: close\r\n\r\n",
				"asterisk":     "OPTIONS * HTTP/1.1\r\nHost: $HOST\r\nConnection: close\r\n\r\n",
				"odd path":     "GET //a/../b;c=%zz HTTP/1.1\r\nHost: $HOST\r\nConnection: close\r\n\r\n",
				"odd query":    "GET /?a=%zz&b;c=d+e&&=f HTTP/1.1\r\nHost: $HOST\r\nConnection: close\r\n\r\n",
				"only a query": "GET /? HTTP/1.1\r\nHost: $HOST\r\nConnection: close\r\n\r\n",
				"HTTP/1.0":     "GET / HTTP/1.0\r\nHost: $HOST\r\n\r\n",
			} {
				t.Run(name, func(t *testing.T) {
					requests := make(map[string]string)
					for proxy, site := range s.sites {
						answer := converse(t, site, request)
						select {
						case sent := <-got:
							requests[proxy] = strings.ReplaceAll(sent, host(t, site), "HOST")
						default: // nothing was sent
							requests[proxy], _, _ = strings.Cut(answer, "\r\n")
						}
					}
					if requests["reverse_proxy"] != requests["api_proxy"] {
						t.Errorf("reverse_proxy sends\n%s\nand api_proxy\n%s", requests["reverse_proxy"], requests["api_proxy"])
					}
				})
			}
		})
	}
}

func TestAnswerChunksAreFlushedAtOnce(t *testing.T) {
	s := start(t, "", "")
	for name, c := range map[string]struct{ head, first, second string }{
		"chunks":                          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "2\r\nhi\r\n", "5\r\nthere\r\n0\r\n\r\n"},
		"events":                          {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nContent-Length: 7\r\n\r\n", "hi", "there"},
		"until the end of the connection": {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "hi", "there"},
	} {
		t.Run(name, func(t *testing.T) {
			s.onBoth(t, func(t *testing.T, site string) {
				seen := make(chan bool)
				s.server.handleWith(func(conn net.Conn, in *bufio.Reader) {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					_, _ = io.WriteString(conn, c.head+c.first)
					<-seen
					_, _ = io.WriteString(conn, c.second)
				})
				res, err := http.Get(site)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				part := make([]byte, 2)
				within(t, 5*time.Second, "the first part", func() { _, err = io.ReadFull(res.Body, part) })
				close(seen)
				rest, restErr := io.ReadAll(res.Body)
				if err != nil || restErr != nil || string(part)+string(rest) != "hithere" {
					t.Error(string(part), string(rest), err, restErr)
				}
			})
		})
	}
}

func TestTruncatedAnswerIsAborted(t *testing.T) {
	s := start(t, "", "")
	for name, answer := range map[string]string{
		"length": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi",
		"chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s.onBoth(t, func(t *testing.T, site string) {
				s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
					if _, err := http.ReadRequest(in); err == nil {
						_, _ = io.WriteString(c, answer)
					}
				})
				res, err := http.Get(site)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if body, err := io.ReadAll(res.Body); err == nil || string(body) != "hi" {
					t.Errorf("%q, %v", body, err)
				}
			})
		})
	}
}

func TestServerFailures(t *testing.T) {
	s := start(t, "", "")
	for name, answer := range map[string]string{"says nothing": "", "is cut off in the head": "HTTP/1.1 200 OK\r\nConte", "speaks something else": "SSH-2.0-OpenSSH\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			s.onBoth(t, func(t *testing.T, site string) {
				s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
					if _, err := http.ReadRequest(in); err == nil {
						_, _ = io.WriteString(c, answer)
					}
				})
				if status, _ := harness.Get(t, site); status != http.StatusBadGateway {
					t.Error(status)
				}
			})
		})
	}
	_ = s.server.Close()
	s.onBoth(t, func(t *testing.T, site string) {
		http.DefaultClient.CloseIdleConnections()
		if status, _ := harness.Get(t, site); status != http.StatusBadGateway {
			t.Error("nobody listens:", status)
		}
	})
}

func TestExpectContinue(t *testing.T) {
	s := start(t, "", "")
	s.server.answerWith(func(_ *http.Request, body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	})
	s.onBoth(t, func(t *testing.T, site string) {
		c := harness.Dial(t, site)
		in := bufio.NewReader(c)
		fmt.Fprintf(c, "PUT / HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", host(t, site))
		if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
			t.Fatalf("%q %v", line, err)
		}
		_, _ = io.WriteString(c, "hi")
		_, _ = in.ReadString('\n')
		if p := harness.ReadAnswer(t, in, http.MethodPut); p.Status != http.StatusOK || p.Body != "hi" {
			t.Error(p.Status, p.Body)
		}
	})
}

func TestClientDisconnectEndsTheProxiedRequest(t *testing.T) {
	s := start(t, "", "")
	for name, request := range map[string]string{
		"waiting":        "GET / HTTP/1.1\r\nHost: $HOST\r\n\r\n",
		"within a body":  "PUT / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 9\r\n\r\nhi",
		"within a chunk": "PUT / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhi",
	} {
		t.Run(name, func(t *testing.T) {
			s.onBoth(t, func(t *testing.T, site string) {
				begun, ended := make(chan bool, 1), make(chan error, 1)
				s.server.handleWith(func(_ net.Conn, in *bufio.Reader) {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					begun <- true
					_, err := io.Copy(io.Discard, in)
					ended <- err
				})
				c := harness.Dial(t, site)
				_, _ = io.WriteString(c, strings.ReplaceAll(request, "$HOST", host(t, site)))
				<-begun
				_ = c.Close()
				within(t, 10*time.Second, "the end of the request", func() { <-ended })
			})
		})
	}
}

func TestLargeBodiesPassUnchanged(t *testing.T) {
	s := start(t, "", "")
	s.server.handleWith(func(c net.Conn, in *bufio.Reader) { // it answers while it reads
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			sum := sha256.New()
			body, err := io.ReadAll(io.TeeReader(r.Body, sum))
			if err != nil {
				return
			}
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Sum: %x\r\n\r\n", len(body), sum.Sum(nil))
			_, _ = c.Write(body)
		}
	})
	body := make([]byte, 6<<20)
	_, _ = rand.Read(body)
	s.onBoth(t, func(t *testing.T, site string) {
		for _, length := range []int64{int64(len(body)), -1} {
			r, err := http.NewRequest(http.MethodPut, site, io.NopCloser(bytes.NewReader(body)))
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = length
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			back, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || !bytes.Equal(back, body) || res.Header.Get("X-Sum") != fmt.Sprintf("%x", sha256.Sum256(body)) {
				t.Error(len(back), err)
			}
		}
	})
}

func TestProtocolUpgradeIsProxied(t *testing.T) {
	s := start(t, "", "")
	s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: %s\r\nConnection: Upgrade\r\n\r\n", r.Header.Get("Upgrade"))
		_, _ = io.Copy(c, in)
	})
	s.onBoth(t, func(t *testing.T, site string) {
		c := harness.Dial(t, site)
		in := bufio.NewReader(c)
		fmt.Fprintf(c, "GET /ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", host(t, site))
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
			t.Fatal(res, err)
		}
		for _, text := range []string{"hello", "again"} {
			_, _ = io.WriteString(c, text)
			back := make([]byte, len(text))
			if _, err := io.ReadFull(in, back); err != nil || string(back) != text {
				t.Fatal(string(back), err)
			}
		}
	})
}

// A server may close a kept connection at any moment; a request that may be sent twice never
// suffers from it.
func TestServerClosesKeptConnectionsAtAnyPoint(t *testing.T) {
	s := start(t, "", "")
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	s.onBoth(t, func(t *testing.T, site string) {
		for after := range 4 { // requests on one connection
			s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
				for range after {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					_, _ = io.WriteString(c, answer)
				}
				if after > 0 {
					_, _ = http.ReadRequest(in)
					return
				}
				// The first request of a connection is answered, and then it is closed at once.
				if _, err := http.ReadRequest(in); err == nil {
					_, _ = io.WriteString(c, answer)
				}
			})
			for range 12 {
				if status, body := harness.Get(t, site); status != http.StatusOK || body != "hi" {
					t.Fatal(after, status, body)
				}
			}
		}
	})
}

func TestUnsolicitedAnswerIsDiscarded(t *testing.T) {
	s := start(t, "", "")
	forged := make(chan bool, 10)
	s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
		forged <- true
		_, _ = io.Copy(io.Discard, in)
	})
	// By reverse_proxy only mostly: net/http may send the next request before it has looked for more.
	for range 20 {
		if _, body := harness.Get(t, s.API); body != "hi" {
			t.Fatal(body)
		}
		<-forged
	}
}

func TestManyConcurrentRequests(t *testing.T) {
	s := start(t, "", "")
	s.server.answerWith(func(r *http.Request, body string) string {
		text := r.URL.Path + body
		if len(body)%2 == 1 {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(text), text)
		}
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
	})
	s.onBoth(t, func(t *testing.T, site string) {
		errs := make(chan error)
		for n := range 40 {
			go func() {
				errs <- func() error {
					for i := range 25 {
						ctx, cancel := context.WithCancel(t.Context())
						path, body := fmt.Sprintf("/%d/%d", n, i), strings.Repeat("x", (n*i)%5000)
						r, err := http.NewRequestWithContext(ctx, http.MethodPost, site+path, strings.NewReader(body))
						if err != nil {
							cancel()
							return err
						}
						if n%8 == 0 && i%5 == 0 {
							go cancel() // some clients leave
						}
						res, err := http.DefaultClient.Do(r)
						if err == nil {
							var back []byte
							if back, err = io.ReadAll(res.Body); err == nil && string(back) != path+body {
								err = fmt.Errorf("%s got %.40q", path, back)
							}
							_ = res.Body.Close()
						}
						gone := ctx.Err() != nil
						cancel()
						if err != nil && !gone && !errors.Is(err, context.Canceled) {
							return err
						}
					}
					return nil
				}()
			}()
		}
		for range 40 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestUnknownMethodsAreProxied(t *testing.T) {
	s := start(t, "", "")
	methods := make(chan string, 1)
	s.server.answerWith(func(r *http.Request, _ string) string {
		methods <- r.Method
		return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	})
	s.onBoth(t, func(t *testing.T, site string) {
		for _, method := range []string{"PROPFIND", "HEAD", "OPTIONS", "TRACE", "x-own"} {
			harness.Wire(t, site, method+" /a")
			if got := <-methods; got != method {
				t.Error(got, method)
			}
		}
	})
}
