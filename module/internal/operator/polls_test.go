package operator

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

const portal = `client portal {
			secret portal-secret-0123456789-0123456789-01234567
			variant_b
			redirect_uri https://portal.example/wx
			scopes snsapi_login
		}`

var pollOf = regexp.MustCompile(`data-poll="(/connect/l/qrconnect\?uuid=[\w-]{22})"`)

// screen opens the page with the code to scan, and returns the address of its poll.
func screen(t *testing.T, g *harness.Gateway) (*harness.Browser, string) {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	p := b.Get(g.ID + "/connect/qrconnect?appid=portal&redirect_uri=https%3A%2F%2Fportal.example%2Fwx&response_type=code&scope=snsapi_login&state=s")
	m := pollOf.FindStringSubmatch(p.Body)
	if m == nil {
		t.Fatalf("no code to scan: %d %.500s", p.Status, p.Body)
	}
	return b, g.ID + m[1] + "&f=json&last=408"
}

type polled struct {
	harness.Page
	after time.Duration
}

// hang polls, and returns when the gateway says that somebody does.
func hang(t *testing.T, g *harness.Gateway, b *harness.Browser, address string) <-chan polled {
	t.Helper()
	got := make(chan polled, 1)
	go func() {
		begun := time.Now()
		res, err := b.Client.Get(address)
		if err != nil {
			t.Error(err)
			got <- polled{after: time.Since(begun)}
			return
		}
		defer func() { _ = res.Body.Close() }()
		body := make([]byte, 200)
		n, _ := res.Body.Read(body)
		got <- polled{harness.Page{Status: res.StatusCode, Body: string(body[:n])}, time.Since(begun)}
	}()
	for deadline := time.Now().Add(10 * time.Second); g.Metric(t, "caddy_gatehouse_polls_waiting") != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the poll does not hang")
		}
	}
	return got
}

// B30
func TestAPollEndsWithItsConfigurationAndTheTicketDoesNot(t *testing.T) {
	config := strings.NewReplacer("$GLOBAL", portal, "$GUARD", "").Replace(site)
	g := harness.Start(t, config)
	b, poll := screen(t, g)
	got := hang(t, g, b, poll)
	begun := time.Now()
	g.Load(t, strings.Replace(config, `scope read "Read"`, `scope read "Read more"`, 1))
	p := <-got
	if took := time.Since(begun); took > 3*time.Second || p.Status != http.StatusOK || !strings.Contains(p.Body, `"wx_errcode":408`) {
		t.Errorf("after a reload that took %v: %d %s", took, p.Status, p.Body)
	}
	// It is asked again, and hangs under the new configuration.
	got = hang(t, g, b, poll)
	select {
	case p := <-got:
		t.Errorf("the ticket is gone with its configuration: %d %s", p.Status, p.Body)
	case <-time.After(100 * time.Millisecond):
	}
	g.Load(t, config)
	<-got
}

// Apps are stopped in no fixed order: the one that serves may come first and wait for its
// requests.
func TestAPollDoesNotHoldUpTheEndOfTheProcess(t *testing.T) {
	config := strings.NewReplacer("$GLOBAL", portal, "$GUARD", "").Replace(site)
	for range 3 {
		g := harness.Prepare(t)
		p := g.Run(t, config)
		b, poll := screen(t, g)
		got := hang(t, g, b, poll)
		begun := time.Now()
		p.Stop()
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("the end took %v", took)
		}
		if p := <-got; p.Status != http.StatusOK || !strings.Contains(p.Body, `"wx_errcode":408`) {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	}
}

func TestNothingOfVariantBAndDevicesIsServedInPlaintext(t *testing.T) {
	config := strings.NewReplacer("$GLOBAL", portal, "$GUARD", "", "issuer http://$ID", "issuer https://id.example").Replace(site)
	g := harness.Start(t, strings.Replace(config, "http://$ID {", "http://$ID, http://id.example {", 1))
	for _, path := range []string{
		"/connect/qrconnect?appid=portal", "/connect/qrcode/AAAAAAAAAAAAAAAAAAAAAA", "/connect/l/qrconnect?uuid=AAAAAAAAAAAAAAAAAAAAAA",
		"/connect/confirm?uuid=AAAAAAAAAAAAAAAAAAAAAA", "/connect/oauth2/authorize?appid=portal", "/device", "/device_authorization",
		"/sns/oauth2/access_token?appid=portal", "/sns/oauth2/refresh_token", "/sns/auth", "/sns/userinfo",
	} {
		res, err := http.Get(g.ID + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusForbidden || res.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}
