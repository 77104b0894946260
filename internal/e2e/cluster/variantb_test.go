package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

var portal = harness.Credentials{ID: "portal", Secret: "portal-secret-0123456789-0123456789-012345"}

const portalCallback = "https://portal.example/wx"

// withPortal adds a site of Variant B to the plan.
func withPortal() plan {
	return plan{change: []string{"\t\tclient machine {", `		client portal {
			secret portal-secret-0123456789-0123456789-012345
			variant_b
			redirect_uri https://portal.example/wx
			scopes snsapi_login snsapi_userinfo
		}
		client machine {`}}
}

func portalRequest(scope string) string {
	return url.Values{
		"appid": {portal.ID}, "redirect_uri": {portalCallback}, "response_type": {"code"}, "scope": {scope}, "state": {"S"},
	}.Encode()
}

// redeem exchanges a code at a node, as the libraries do: with everything in the address.
func (c *cluster) redeem(at *node, code string) (answer, error) {
	return c.get(at, "/sns/oauth2/access_token?"+url.Values{
		"appid": {portal.ID}, "secret": {portal.Secret}, "code": {code}, "grant_type": {"authorization_code"},
	}.Encode())
}

func (c *cluster) get(at *node, target string) (answer, error) {
	r, err := http.NewRequest(http.MethodGet, c.issuer+target, nil)
	if err != nil {
		return answer{}, err
	}
	return at.send(r)
}

// errcode is the number in the body of a failure.
func (a answer) errcode() int {
	var v struct {
		Errcode int `json:"errcode"`
	}
	_ = json.Unmarshal(a.body, &v)
	return v.Errcode
}

// device is a browser with an address of its own, which a test leads to one node or another.
type device struct {
	*harness.Browser
	at   *node
	from string
}

func (c *cluster) device(t *testing.T, at *node, from string) *device {
	t.Helper()
	d := &device{Browser: harness.NewBrowser(t, c.issuer), from: from}
	return d.via(at)
}

// via is the same browser, with the same cookies, whose requests go to another node.
func (d *device) via(at *node) *device {
	browser, client := *d.Browser, *d.Client
	other := &device{&browser, at, d.from}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(d.from)}}
	client.Timeout = 40 * time.Second
	client.Transport = &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, strings.Replace(strings.TrimPrefix(other.at.ID, "http://"), "localhost:", "127.0.0.1:", 1))
		},
	}
	browser.Client = &client
	return other
}

// send is for many at once, where no test can be ended.
func (d *device) send(r *http.Request) (answer, error) {
	res, err := d.Client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, body}, err
}

// open is Get for many at once.
func (d *device) open(address string) (answer, error) {
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return answer{}, err
	}
	return d.send(r)
}

// phone is alice's, signed in.
func (c *cluster) phone(t *testing.T, at *node, from string) *device {
	t.Helper()
	d := c.device(t, at, from)
	if p := d.Submit(d.Get(c.issuer+"/login"), url.Values{"username": {username}, "password": {password}}); p.Status != http.StatusSeeOther {
		t.Fatal("no sign-in:", p.Status)
	}
	return d
}

var (
	ticketID     = regexp.MustCompile(`data-poll="/connect/l/qrconnect\?uuid=([A-Za-z0-9_-]{22})"`)
	ticketNumber = regexp.MustCompile(`class="digits"[^>]*>([0-9]{2})<`)
)

// screen is a device that shows a code.
type screen struct {
	*device
	issuer, id, number string
}

func (c *cluster) screen(t *testing.T, at *node, from string) *screen {
	t.Helper()
	d := c.device(t, at, from)
	p := d.Get(c.issuer + "/connect/qrconnect?" + portalRequest("snsapi_login"))
	id, number := ticketID.FindStringSubmatch(p.Body), ticketNumber.FindStringSubmatch(p.Body)
	if p.Status != http.StatusOK || id == nil || number == nil {
		t.Fatalf("no page with a code: %d %.600s", p.Status, p.Body)
	}
	return &screen{d, c.issuer, id[1], number[1]}
}

// confirmAddress is what the code says.
func (s *screen) confirmAddress() string { return s.issuer + "/connect/confirm?uuid=" + s.id }

// hearing is the answer to a poll.
type hearing struct {
	state int
	code  string
	at    time.Time
	// away: the node says that its store is.
	away bool
	err  error
}

// poll asks in the background, where the screen is at this moment.
func (s *screen) poll(last string) <-chan hearing {
	c := make(chan hearing, 1)
	at := s.device.via(s.at)
	go func() { c <- s.ask(at, last) }()
	return c
}

// ask polls once, at a node.
func (s *screen) ask(at *device, last string) (h hearing) {
	var a answer
	a, h.err = at.open(s.issuer + "/connect/l/qrconnect?f=json&uuid=" + s.id + "&last=" + last)
	h.at = time.Now()
	var v struct {
		State int    `json:"wx_errcode"`
		Code  string `json:"wx_code"`
	}
	if h.err == nil {
		h.err = json.Unmarshal(a.body, &v)
	}
	h.state, h.code = v.State, v.Code
	if h.away = a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "" && v.State == 500; h.err == nil && !h.away && a.status != http.StatusOK {
		h.err = fmt.Errorf("%d %v", a.status, a.header)
	}
	return h
}

// hangs polls and waits until the node says that the poll hangs.
func (s *screen) hangs(t *testing.T, last string) <-chan hearing {
	t.Helper()
	c := s.poll(last)
	for deadline := time.Now().Add(5 * time.Second); s.at.Metric(t, "caddy_gatehouse_polls_waiting") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no poll hangs")
		}
	}
	return c
}

// within waits for the answer to a poll, which must come within a second of a moment.
func within(t *testing.T, c <-chan hearing, state int, since time.Time) (hearing, time.Duration) {
	t.Helper()
	select {
	case v := <-c:
		took := v.at.Sub(since)
		if v.err != nil || v.state != state || took > time.Second {
			t.Fatalf("the poll says %+v after %v, expected %d within a second", v, took, state)
		}
		return v, took
	case <-time.After(10 * time.Second):
		t.Fatalf("the poll that waits for %d is not answered", state)
	}
	panic("unreachable")
}

// scan opens what the code on the screen says.
func (d *device) scan(t *testing.T, s *screen) harness.Page {
	t.Helper()
	p := d.Get(s.confirmAddress())
	if !strings.Contains(p.Body, `name="number"`) {
		t.Fatalf("no page that asks: %d %.600s", p.Status, p.Body)
	}
	return p
}

// number is a text as a number.
func number(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// confirm types the number that the screen shows.
func (d *device) confirm(t *testing.T, s *screen, asks harness.Page) {
	t.Helper()
	if p := d.Submit(asks, url.Values{"number": {s.number}, "decision": {"confirm"}}); p.Status != http.StatusOK {
		t.Fatalf("not confirmed: %d %.600s", p.Status, p.Body)
	}
}
