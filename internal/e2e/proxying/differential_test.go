package proxying

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Both proxies in front of one server, each connection of which has one request, so that no request
// meets a connection that is about to be closed.
const differential = `{
` + harness.Quiet + `
	auto_https off
}
http://$ID {
	reverse_proxy $SERVER {
		transport http {
			keepalive off
			compression off
		}
	}
}
http://$API {
	api_proxy $SERVER
}
`

// FuzzBothProxiesBehaveAlike sends a request through each proxy to a server that answers with some
// bytes and closes the connection. What the server is sent and the client is answered is the same,
// but for the differences that the reference of api_proxy names.
func FuzzBothProxiesBehaveAlike(f *testing.F) {
	for _, answer := range someAnswers {
		for _, request := range []string{get, strings.Replace(get, "GET", "HEAD", 1), someRequests["chunks"]} {
			f.Add(request, answer)
		}
	}
	for _, request := range someRequests {
		f.Add(request, someAnswers["length"])
	}
	p := startPair(f)
	f.Fuzz(func(t *testing.T, request, answer string) {
		if len(answer) > 8<<10 || len(request) > 8<<10 {
			return // longer ones meet limits that differ
		}
		r := wholeRequest(request)
		if r == nil {
			return
		}
		first, second := p.ask(t, p.ID, request, answer, r), p.ask(t, p.API, request, answer, r)
		if first.sent != second.sent {
			t.Errorf("%q: reverse_proxy sends\n%s\nand api_proxy\n%s", request, first.sent, second.sent)
		}
		switch why := violation(r.Method, answer); {
		case first.answer == second.answer:
		case second.sent == "" && first.status == http.StatusBadGateway && second.status == http.StatusBadRequest: // it cannot be sent
		case why == "" || len(r.Header["Upgrade"]) > 0:
			t.Errorf("%q answered %q: reverse_proxy answers\n%s\nand api_proxy\n%s", request, answer, first.answer, second.answer)
		case second.status != http.StatusBadGateway && !second.cut:
			t.Errorf("%q answered %q, which is not valid (%s): api_proxy passes it on:\n%s", request, answer, why, second.answer)
		}
	})
}

// wholeRequest reads a request that is complete; nil for anything else.
func wholeRequest(text string) *http.Request {
	in := bufio.NewReader(strings.NewReader(text))
	r, err := http.ReadRequest(in)
	if err != nil || r.Method == "PRI" {
		return nil
	}
	r.Trailer = maps.Clone(r.Trailer) // those that are announced; reading adds others
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil
	}
	if _, err := in.ReadByte(); err == nil {
		return nil
	}
	return r
}

// pair is both proxies in front of a server whose answer is set.
type pair struct {
	*harness.Gateway
	server *server

	mu     sync.Mutex
	answer string
	sent   []string
	busy   int       // connections that are handled
	idle   sync.Cond // busy is 0
}

func startPair(t testing.TB) *pair {
	t.Helper()
	p := &pair{server: newServer(t, "tcp", "127.0.0.1:0")}
	p.idle.L = &p.mu
	p.server.handleWith(p.handle)
	p.Gateway = harness.Start(t, differential, "$SERVER", p.server.Addr().String())
	return p
}

// handle reads a request, answers it and closes the connection.
func (p *pair) handle(c net.Conn, in *bufio.Reader) {
	p.mu.Lock()
	p.busy++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.busy--
		p.idle.Broadcast()
	}()
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	r, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	if r.Header.Get("Expect") != "" {
		_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	announced := maps.Clone(r.Trailer)
	body, err := io.ReadAll(r.Body)
	p.mu.Lock()
	p.sent = append(p.sent, describe(r, body, err)+trailerText(r.Trailer, announced))
	answer := p.answer
	p.mu.Unlock()
	_, _ = io.WriteString(c, answer)
}

// describe returns what the server understands of a request.
func describe(r *http.Request, body []byte, err error) string {
	h := r.Header.Clone()
	h["Via"] = []string{strings.Join(h["Via"], ", ")}
	delete(h, "Connection")
	length, coding := r.ContentLength, r.TransferEncoding
	if len(body) == 0 && err == nil && len(r.Trailer) == 0 && r.Method != http.MethodPost && r.Method != http.MethodPut && r.Method != http.MethodPatch {
		length, coding = 0, nil // api_proxy sends no empty body in chunks
	}
	return fmt.Sprintf("%s %s %s %q %v %d %v %v", r.Method, r.RequestURI, r.Host, body, err, length, coding, h)
}

// outcome is what came of a request: what the server was sent, and what the client was answered.
type outcome struct {
	sent, answer string
	status       int
	cut          bool // the answer ended too early
}

// ask sends a request to a site. r is the same request as it was understood.
func (p *pair) ask(t *testing.T, site, request, answer string, r *http.Request) outcome {
	t.Helper()
	p.mu.Lock()
	p.answer, p.sent = answer, nil
	p.mu.Unlock()
	at := host(t, site)
	line, rest, _ := strings.Cut(request, "\n")
	c := harness.Dial(t, site)
	_, _ = io.WriteString(c, strings.ReplaceAll(line+"\nConnection: close\r\n"+rest, "$HOST", at)) // it may be refused before its end
	all, _ := io.ReadAll(c)
	_ = c.Close()
	p.mu.Lock()
	for p.busy > 0 {
		p.idle.Wait()
	}
	sent := strings.Join(p.sent, "\n")
	p.mu.Unlock()
	o := understand(r, string(all), answer)
	_, port, _ := net.SplitHostPort(at)
	o.sent = strings.NewReplacer(at, "$HOST", port, "$PORT").Replace(sent)
	return o
}

// understand reads an answer as a client does. Left out is what the differences in the reference
// excuse, and what depends on the moment.
func understand(r *http.Request, all, answered string) (o outcome) {
	in := bufio.NewReader(strings.NewReader(all))
	var text strings.Builder
	for {
		res, err := http.ReadResponse(in, r)
		if err != nil {
			o.answer, o.cut = text.String()+"nothing", true
			return o
		}
		announced := maps.Clone(res.Trailer)
		body, err := io.ReadAll(res.Body)
		if res.StatusCode == http.StatusSwitchingProtocols {
			body, err = io.ReadAll(in)
		}
		if res.StatusCode == http.StatusContinue {
			continue
		}
		h := res.Header
		delete(h, "Date")
		delete(h, "Trailer") // of an answer to HEAD
		for _, name := range besideClose(answered) {
			delete(h, http.CanonicalHeaderKey(name))
		}
		if r.Method != http.MethodHead && res.StatusCode != http.StatusNotModified {
			delete(h, "Content-Length")
		}
		if !strings.Contains(answered, h.Get("Content-Type")) { // a guess at what came first
			delete(h, "Content-Type")
		}
		fmt.Fprintf(&text, "%d %v %q %v%s\n", res.StatusCode, h, body, err, trailerText(res.Trailer, announced))
		if res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols {
			o.answer, o.status, o.cut = text.String(), res.StatusCode, err != nil
			return o
		}
	}
}

// connectionLine is a Connection field.
var connectionLine = regexp.MustCompile(`(?im)^connection:(.*)$`)

// besideClose are the fields that an answer names in Connection if it names "close" too.
func besideClose(answer string) (names []string) {
	closes := false
	for _, m := range connectionLine.FindAllStringSubmatch(answer, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			name = strings.TrimSpace(name)
			names = append(names, name)
			closes = closes || strings.EqualFold(name, "close")
		}
	}
	if !closes {
		return nil
	}
	return names
}

// unfit are fields that api_proxy does not take from a trailer.
var unfit = []string{"Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Host", "Cache-Control", "Authorization", "Set-Cookie",
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Alt-Svc"}

// trailerText returns the fields of a trailer that have a value and may stand there.
func trailerText(trailer, announced http.Header) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(trailer)) {
		if _, ok := announced[name]; ok && !slices.Contains(unfit, name) && len(trailer[name]) > 0 {
			fmt.Fprintf(&text, " %s=%q", name, trailer[name])
		}
	}
	return text.String()
}
