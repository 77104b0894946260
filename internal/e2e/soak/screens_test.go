package soak

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const portal = `client portal {
			secret portal-secret-0123456789-0123456789-012345
			variant_b
			redirect_uri https://portal.example/wx
			scopes snsapi_login snsapi_userinfo
		}`

// screen is a browser that shows a code to scan. It has one connection, from an address of
// its own choice: what one address may do is not what is measured here.
type screen struct {
	s                  *site
	from               string
	c                  *caller
	id, number, cookie string
}

// loopback is one of many addresses of this machine.
func loopback(i int) string { return fmt.Sprintf("127.%d.%d.%d", 1+i/62_500, i/250%250, 1+i%250) }

// perAddress is how many tickets an address begins here: as many as it may.
const perAddress = 20

// callFrom connects from an address of this machine.
func callFrom(from, address string) (*caller, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	c, err := dialer.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &caller{c, bufio.NewReaderSize(c, 4096)}, nil
}

// get sends a request over the connection and reads the answer to its end.
func (c *caller) get(host, target string, lines ...string) (answer, error) {
	if err := c.c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return answer{}, err
	}
	if _, err := c.c.Write(rawRequest(http.MethodGet, target, host, "", lines...)); err != nil {
		return answer{}, err
	}
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, body}, err
}

func (s *site) host() string { return strings.TrimPrefix(s.ID, "http://") }

// dialled is where the host listens.
func (s *site) dialled() string { return strings.Replace(s.host(), "localhost", "127.0.0.1", 1) }

func qrTarget() string {
	return "/connect/qrconnect?" + url.Values{
		"appid": {"portal"}, "redirect_uri": {"https://portal.example/wx"}, "response_type": {"code"}, "scope": {"snsapi_login"}, "state": {"S"},
	}.Encode()
}

var (
	ticketID     = regexp.MustCompile(`data-poll="/connect/l/qrconnect\?uuid=([A-Za-z0-9_-]{22})"`)
	ticketNumber = regexp.MustCompile(`class="digits"[^>]*>([0-9]{2})<`)
)

// screen begins as a new browser.
func (s *site) screen(from string) (*screen, error) {
	c, err := callFrom(from, s.dialled())
	if err != nil {
		return nil, err
	}
	a, err := c.get(s.host(), qrTarget())
	if err != nil {
		return nil, err
	}
	id, number := ticketID.FindSubmatch(a.body), ticketNumber.FindSubmatch(a.body)
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if a.status != http.StatusOK || id == nil || number == nil || cookie == "" {
		return nil, fmt.Errorf("no page with a code: %v", a)
	}
	return &screen{s, from, c, string(id[1]), string(number[1]), cookie}, nil
}

// screens begins so many, some at a time, from addresses that nobody else has begun from:
// those behind the first.
func (s *site) screens(t *testing.T, first, n int) []*screen {
	t.Helper()
	all, errs := make([]*screen, n), make([]error, n)
	var wg sync.WaitGroup
	next := make(chan int)
	for range 4 * connections {
		wg.Go(func() {
			for i := range next {
				all[i], errs[i] = s.screen(loopback(first + i/perAddress))
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("%.600v", err)
	}
	return all
}

// again connects anew, and asks something that is answered at once.
func (b *screen) again(t *testing.T) {
	t.Helper()
	b.hangUp()
	c, err := callFrom(b.from, b.s.dialled())
	if err != nil {
		t.Fatal(err)
	}
	b.c = c
	a, err := b.poll("404")
	if state, _, bad := pollState(a); err != nil || bad != nil || state != http.StatusRequestTimeout {
		t.Fatal("a poll of who knows of a state that is not:", a, err)
	}
}

// hangUp ends the connection.
func (b *screen) hangUp() { _ = b.c.c.Close() }

// poll asks once, over its connection. last is the state that it knows.
func (b *screen) poll(last string) (answer, error) {
	return b.c.get(b.s.host(), "/connect/l/qrconnect?f=json&uuid="+b.id+"&last="+last, "Cookie: "+b.cookie)
}

// pollState reads an answer to a poll.
func pollState(a answer) (state int, code string, err error) {
	var v struct {
		State int    `json:"wx_errcode"`
		Code  string `json:"wx_code"`
	}
	if a.status != http.StatusOK || json.Unmarshal(a.body, &v) != nil {
		return 0, "", fmt.Errorf("no answer to a poll: %v", a)
	}
	return v.State, v.Code, nil
}

// phone is a browser of alice's, signed in.
func (s *site) phone(t *testing.T) *harness.Browser {
	t.Helper()
	b := harness.NewBrowser(t, s.ID)
	b.Client.Transport = s.plain.Transport
	if p := b.Submit(b.Get(s.ID+"/login"), url.Values{"username": {username}, "password": {password}}); p.Status != http.StatusSeeOther {
		t.Fatal("no sign-in:", p.Status)
	}
	return b
}

// scan opens what the code of the screen says.
func (b *screen) scan(t *testing.T, phone *harness.Browser) harness.Page {
	t.Helper()
	p := phone.Get(b.s.ID + "/connect/confirm?uuid=" + b.id)
	if !strings.Contains(p.Body, `name="number"`) {
		t.Fatalf("no page that asks: %d %.600s", p.Status, p.Body)
	}
	return p
}

// confirm answers the page with the number on the screen.
func (b *screen) confirm(t *testing.T, phone *harness.Browser, asks harness.Page) {
	t.Helper()
	if p := phone.Submit(asks, url.Values{"number": {b.number}, "decision": {"confirm"}}); p.Status != http.StatusOK {
		t.Fatalf("not confirmed: %d %.600s", p.Status, p.Body)
	}
}
