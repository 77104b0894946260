package gateway

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	// bodyTime is how long a client has for its body, as the documentation says.
	bodyTime = 10 * time.Second
	formType = "application/x-www-form-urlencoded"
)

// slowSite has every endpoint that reads a body.
func slowSite(t *testing.T) *harness.Gateway {
	t.Helper()
	g, _ := prepare(t)
	g.WriteFile(t, "initial", initialToken)
	g.Run(t, strings.Replace(site, "$GLOBAL", wxClients+`
		registration {
			initial_token {file.$DIR/initial}
			scopes read
		}`, 1))
	return g
}

// A client that sends its body a byte a second keeps its connection for ten seconds, at
// every endpoint and whether or not the endpoint reads the body. The site has Caddy's own
// timeouts, which let a body take for ever as long as it moves.
func TestSlowBodyTimesOutAtEveryEndpoint(t *testing.T) { // N04
	g := slowSite(t)
	browser := harness.NewBrowser(t, g.ID)
	action, _ := harness.Form(t, browser.Get(authorizeURL(g, "web")))
	to, err := url.Parse(action)
	if err != nil {
		t.Fatal(err)
	}
	fromPage := "\r\nOrigin: " + g.ID + "\r\n" + cookiesOf(browser, to)
	bearer := "\r\nAuthorization: Bearer " + initialToken
	t.Parallel()
	screen := newScreen(t, g) // only now: a code waits two minutes for a phone
	poll := strings.TrimPrefix(pollURL(g, screen.id, "408"), g.ID)
	binding := cookiesOf(screen.b, to)
	isJSON := func(p harness.Page) bool {
		return p.Header.Get("Content-Type") == "application/json; charset=utf-8" && p.JSON(t)["error"] != nil
	}
	isPage := func(p harness.Page) bool { return strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") }
	isSlowPage := func(p harness.Page) bool { return isPage(p) && strings.Contains(p.Body, "took too long to reach") }
	isSNS := func(p harness.Page) bool { return p.JSON(t)["errcode"] == 40035.0 }
	const slow = http.StatusRequestTimeout
	var wg sync.WaitGroup
	for _, c := range []struct {
		method, path, header string
		status               int
		shape                func(harness.Page) bool
	}{
		{"POST", "/token", formType, slow, isJSON},
		{"POST", "/introspect", formType, slow, isJSON},
		{"POST", "/revoke", formType, slow, isJSON},
		{"POST", "/par", formType, slow, isJSON},
		{"POST", "/device_authorization", formType, slow, isJSON},
		{"POST", "/userinfo", formType, slow, isJSON},
		{"POST", "/register", "application/json" + bearer, slow, isJSON},
		{"POST", "/authorize", formType, slow, isSlowPage},
		{"POST", "/login", formType + fromPage, slow, isSlowPage},
		{"POST", "/sns/oauth2/access_token", formType, slow, isSNS},
		{"POST", "/sns/oauth2/refresh_token", formType, slow, isSNS},
		{"POST", "/sns/auth", formType, slow, isSNS},
		// These are refused without reading the body; net/http reads it before it answers.
		{"POST", "/token", "text/plain", http.StatusUnsupportedMediaType, isJSON},
		{"POST", "/register", "application/json", http.StatusUnauthorized, isJSON},
		{"POST", "/login", formType, http.StatusForbidden, isPage},
		{"POST", "/nothing", formType, http.StatusNotFound, isPage},
		{"GET", "/authorize", formType, http.StatusBadRequest, isPage},
		{"PUT", "/token", formType, http.StatusMethodNotAllowed, isJSON},
	} {
		for _, framing := range []string{"Content-Length: 60000", "Transfer-Encoding: chunked", "Content-Length: 60000\r\nExpect: 100-continue"} {
			wg.Go(func() {
				name := strings.Join([]string{c.method, c.path, c.header[:10], framing}, " ")
				p, took, err := trickle(g.ID, c.method, c.path, "Content-Type: "+c.header+"\r\n"+framing)
				waits := c.status == slow || !strings.Contains(framing, "Expect") // what was not asked for is not waited for
				switch {
				case err != nil:
					t.Errorf("%s: %v after %v", name, err, took)
				case took > bodyTime+3*time.Second, waits && took < bodyTime-500*time.Millisecond:
					t.Errorf("%s: closed after %v", name, took)
				case p.Status != c.status || !c.shape(p):
					t.Errorf("%s: %d %v %.200s, want %d", name, p.Status, p.Header, p.Body, c.status)
				}
			})
		}
	}
	wg.Go(func() { slowForm(t, g.ID, "GET "+poll+" HTTP/1.1\r\n"+binding) })
	wg.Wait()
}

// cookiesOf is the header line with a browser's cookies.
func cookiesOf(b *harness.Browser, to *url.URL) string {
	var all []string
	for _, c := range b.Client.Jar.Cookies(to) {
		all = append(all, c.Name+"="+c.Value)
	}
	return "Cookie: " + strings.Join(all, "; ")
}

// slowForm sends a form that is complete after three seconds, another one over the same
// connection, and then a request that hangs for longer than a body may take.
func slowForm(t *testing.T, site, then string) {
	c, host, err := dial(site)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = c.Close() }()
	r := bufio.NewReader(c)
	const form = "grant_type=client_credentials&scope=read"
	credentials := base64.StdEncoding.EncodeToString([]byte(machine.ID + ":" + machine.Secret))
	for _, pause := range []time.Duration{3 * time.Second / time.Duration(len(form)), 0} {
		_, _ = fmt.Fprintf(c, "POST /token HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nAuthorization: Basic %s\r\nContent-Length: %d\r\n\r\n",
			host, formType, credentials, len(form))
		for i := range len(form) {
			_, _ = io.WriteString(c, form[i:i+1]) // the answer tells
			time.Sleep(pause)
		}
		if p, err := readPage(r, http.MethodPost); err != nil || p.Status != http.StatusOK {
			t.Errorf("a form in steps of %v: %d %s %v", pause, p.Status, p.Body, err)
		}
	}
	_, _ = fmt.Fprintf(c, "%s\r\nHost: %s\r\n\r\n", then, host)
	_ = c.SetReadDeadline(time.Now().Add(bodyTime + 2*time.Second))
	if _, err := r.ReadByte(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a poll on a connection that had a form before does not hang: %v", err)
	}
}

// trickle sends a request whose body comes a byte at a time, and returns the answer and
// when the connection was closed.
func trickle(site, method, path, header string) (harness.Page, time.Duration, error) {
	c, host, err := dial(site)
	if err != nil {
		return harness.Page{}, 0, err
	}
	defer func() { _ = c.Close() }()
	begun := time.Now()
	if _, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", method, path, host, header); err != nil {
		return harness.Page{}, 0, err
	}
	piece := "a"
	if strings.Contains(header, "chunked") {
		piece = "1\r\na\r\n"
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			if _, err := io.WriteString(c, piece); err != nil {
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	r := bufio.NewReader(c)
	p, err := readPage(r, method)
	if err != nil {
		return p, time.Since(begun), err
	}
	if _, err := r.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return p, time.Since(begun), fmt.Errorf("the connection stays open: %w", err)
	}
	return p, time.Since(begun), nil
}

func dial(site string) (net.Conn, string, error) {
	u, err := url.Parse(site)
	if err != nil {
		return nil, "", err
	}
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", u.Port()))
	if err != nil {
		return nil, "", err
	}
	return c, u.Host, c.SetDeadline(time.Now().Add(40 * time.Second))
}

// readPage reads an answer behind any number of 100 Continue.
func readPage(r *bufio.Reader, method string) (harness.Page, error) {
	for {
		res, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return harness.Page{}, err
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusContinue {
			return harness.Page{Status: res.StatusCode, Header: res.Header, Body: string(body)}, err
		}
	}
}
