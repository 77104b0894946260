package proxying

import (
	"bufio"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// What only api_proxy is asked.

func TestMalformedUpstreamAnswersAre502(t *testing.T) {
	s := start(t, "", "")
	for name, answer := range map[string]string{
		"length and chunks":  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		"folded line":        "HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n",
		"bare LF":            "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
		"space before colon": "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
		"too much":           "HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("1", 300<<10) + "\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s.server.answerWith(func(*http.Request, string) string { return answer })
			if status, _ := harness.Get(t, s.API); status != http.StatusBadGateway {
				t.Error(status)
			}
		})
	}
}

// Go's server reads the whole body before it sends an answer, unless reading has been ended.
func TestEarlyAnswerReachesTheClient(t *testing.T) {
	s := start(t, "", "")
	s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
		_, _ = io.Copy(io.Discard, in)
	})
	c := harness.Dial(t, s.API)
	fmt.Fprintf(c, "PUT / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", host(t, s.API))
	var line string
	within(t, 10*time.Second, "the answer", func() { line, _ = bufio.NewReader(c).ReadString('\n') })
	if !strings.Contains(line, " 413 ") {
		t.Errorf("%q", line)
	}
}

func TestTimeouts(t *testing.T) {
	s := start(t, "", "response_header_timeout 1s\n\t\tread_timeout 1s")
	s.server.handleWith(func(_ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) })
	if status, _ := harness.Get(t, s.API); status != http.StatusGatewayTimeout {
		t.Error("a server that says nothing:", status)
	}
	s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
		_, _ = http.ReadRequest(in)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi")
		_, _ = io.Copy(io.Discard, in)
	})
	res, err := http.Get(s.API)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	within(t, 5*time.Second, "the end of the answer", func() { _, err = io.ReadAll(res.Body) })
	if err == nil {
		t.Error("an answer that stops is passed on as if it were whole")
	}
}

func TestUnixSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.sock")
	newServer(t, "unix", path).answerWith(func(r *http.Request, _ string) string {
		return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Host: " + r.Host + "\r\n\r\nhi"
	})
	g := harness.Start(t, "{\n"+harness.Quiet+"\n}\nhttp://$ID, http://$API {\n\tapi_proxy unix/"+path+"\n}\n")
	for range 2 {
		if p := harness.Send(t, http.DefaultClient, http.MethodGet, g.API, ""); p.Body != "hi" || p.Header.Get("X-Host") != host(t, g.API) {
			t.Error(p.Status, p.Header)
		}
	}
}

func TestTLSUpstreams(t *testing.T) {
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", r.Header.Get("Upgrade"))
			w.WriteHeader(http.StatusSwitchingProtocols)
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = io.WriteString(c, r.Host+"\n")
			return
		}
		_, _ = io.WriteString(w, r.Proto+" "+r.Host)
	}))
	t.Cleanup(api.Close)
	trust := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(trust, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]int{
		"tls_trust " + trust + "\n\t\ttls_server_name example.com":      http.StatusOK,
		"tls_trust " + trust + "\n\t\ttls_server_name other.test":       http.StatusBadGateway,
		"tls_server_name example.com\n\t\ttls_trust_pool file " + trust: http.StatusOK,
		"": http.StatusBadGateway, // the system does not trust it
	} {
		proxy := "api_proxy " + api.URL + " {\n\t\t" + words + "\n\t}"
		g := harness.Start(t, "{\n"+harness.Quiet+"\n}\nhttp://$ID {\n\tapi_rest {\n\t\tto {\n\t\t\t"+proxy+"\n\t\t}\n\t\tresource things\n\t\tundeclared pass\n\t}\n}\nhttp://$API {\n\t"+proxy+"\n}\n")
		server := strings.TrimPrefix(api.URL, "https://")
		for _, site := range []string{g.ID, g.API} {
			for range 2 {
				status, body := harness.Get(t, site)
				if status != want || status == http.StatusOK && body != "HTTP/1.1 "+server {
					t.Error(words, status, body)
				}
			}
			upgradeTLS(t, site, server, want == http.StatusOK)
		}
		if err := g.TryLoad("{\n" + harness.Quiet + "\n}\n"); err != nil {
			t.Fatal(err)
		}
	}
}

// upgradeTLS checks an upgrade to another protocol, which an own reverse_proxy serves: it has to trust the same servers.
func upgradeTLS(t *testing.T, site, server string, trusted bool) {
	t.Helper()
	c := harness.Dial(t, site)
	fmt.Fprintf(c, "GET /ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", host(t, site))
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	switch {
	case err != nil:
		t.Error(err)
	case !trusted:
		if res.StatusCode != http.StatusBadGateway {
			t.Error("an upgrade by a server that is not trusted:", res.Status)
		}
	case res.StatusCode != http.StatusSwitchingProtocols:
		t.Error("an upgrade:", res.Status)
	default:
		if line, err := in.ReadString('\n'); err != nil || line != server+"\n" {
			t.Errorf("an upgrade is sent to %q: %v", line, err)
		}
	}
}

func TestRequestsSurviveAReload(t *testing.T) {
	s := start(t, "grace_period 10s", "")
	begun, release := make(chan bool), make(chan bool)
	s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if r.URL.Path == "/slow" {
				begun <- true
				<-release
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		}
	})
	statuses := make(chan int)
	go func() {
		status, _ := harness.Get(t, s.API+"/slow")
		statuses <- status
	}()
	<-begun
	go func() {
		time.Sleep(100 * time.Millisecond)
		close(release)
	}()
	s.Load(t, caddyfile+"# again\n")
	if status := <-statuses; status != http.StatusOK {
		t.Error(status)
	}
	if status, _ := harness.Get(t, s.API); status != http.StatusOK {
		t.Error(status)
	}
}

// Where the environment names a proxy on the way to the server, requests take it.
func TestProxyEnvironmentIsHonored(t *testing.T) {
	asked := make(chan string, 1)
	forward := newServer(t, "tcp", "127.0.0.1:0")
	forward.answerWith(func(r *http.Request, body string) string {
		asked <- r.Method + " " + r.RequestURI + " " + body
		return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	})
	t.Setenv("HTTP_PROXY", "http://"+forward.Addr().String())
	t.Setenv("NO_PROXY", "")
	g := harness.Prepare(t)
	g.Run(t, "{\n"+harness.Quiet+"\n}\nhttp://$ID, http://$API {\n\tapi_proxy api.test:8080\n}\n")
	p := harness.Send(t, http.DefaultClient, http.MethodPost, g.API+"/a?b", "c")
	if p.Status != http.StatusOK || p.Body != "hi" {
		t.Fatal(p.Status, p.Body)
	}
	if got := <-asked; got != "POST "+g.API+"/a?b c" { // Go names the Host that the server is sent
		t.Error(got)
	}
}

// An API can refuse a body before it is sent.
func TestBodyRefusedWithExpectContinueIsNotSent(t *testing.T) {
	s := start(t, "", "")
	s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
		if _, err := http.ReadRequest(in); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
		}
	})
	c := harness.Dial(t, s.API)
	fmt.Fprintf(c, "PUT / HTTP/1.1\r\nHost: %s\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", host(t, s.API))
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, " 413 ") {
		t.Errorf("%q %v", line, err)
	}
}

func TestWriteToAStalledServerTimesOut(t *testing.T) {
	s := start(t, "", "write_timeout 1s")
	for answer, want := range map[string]int{"": http.StatusGatewayTimeout, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n": http.StatusOK} {
		rest := make(chan bool)
		s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
			if _, err := http.ReadRequest(in); err == nil {
				_, _ = io.WriteString(c, answer)
				<-rest
				_, _ = io.WriteString(c, "2\r\nho\r\n0\r\n\r\n")
			}
		})
		c := harness.Dial(t, s.API)
		go func() { // more than the kernel holds
			_, _ = fmt.Fprintf(c, "PUT / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", host(t, s.API), 32<<20, strings.Repeat("x", 32<<20))
		}()
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != want {
			t.Fatalf("%v %v, want %d", res, err, want)
		}
		if answer != "" {
			time.Sleep(3 * time.Second) // an answer that has begun goes on, whatever is accepted
		}
		close(rest)
		if body, err := io.ReadAll(res.Body); answer != "" && string(body) != "hiho" {
			t.Errorf("%q %v", body, err)
		}
	}
}
