package authserver_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestTicketAuditTrail(t *testing.T) {
	var events *trail
	g := newQRRig(t, recorded(&events))
	phone := g.phone()
	for _, c := range []struct {
		decision string
		number   func(screen) string
		event    audit.Event
	}{
		{"confirm", func(s screen) string { return s.number }, audit.Event{Name: audit.TicketConfirmed, Reason: "scan"}},
		{"deny", func(screen) string { return "" }, audit.Event{Name: audit.TicketDenied, Reason: "scan"}},
		{"confirm", func(screen) string { return "07" }, audit.Event{Name: audit.TicketDenied, Reason: "number"}},
	} {
		events.mu.Lock()
		events.events = nil
		events.mu.Unlock()
		s := g.scanPage(wxRequest())
		asks := phone.scan(s)
		phone.scan(s)
		for range 3 { // the effect is one
			phone.submit(asks, "decision", c.decision, "number", c.number(s))
		}
		c.event.Client, c.event.Subject, c.event.Scopes = "wx", "u1", []string{"snsapi_login"}
		scanned := audit.Event{Name: audit.TicketScanned, Client: "wx", Subject: "u1", Scopes: []string{"snsapi_login"}, Reason: "scan"}
		if events.mu.Lock(); !reflect.DeepEqual(events.events, []audit.Event{scanned, c.event}) {
			t.Errorf("%+v", events.events)
		}
		events.mu.Unlock()
	}
}

// What a reload of the configuration takes from a client is not given by tickets of before.
func TestClientChangeInvalidatesItsTickets(t *testing.T) {
	change := map[string]func(*oauth.Client){
		"its redirect address was taken": func(c *oauth.Client) { c.RedirectURIs = []string{"https://wx.example/other"} },
		"a scope was taken":              func(c *oauth.Client) { c.Scopes = []string{"snsapi_userinfo"} },
		"it is one of OAuth now":         func(c *oauth.Client) { c.VariantB = false },
		"it is another of the same id":   func(c *oauth.Client) { c.Since = time.Unix(2_000_000_000, 0) },
	}
	for name, change := range change {
		t.Run(name, func(t *testing.T) {
			g := newQRRig(t)
			asked, confirmed, phone := g.scanPage(wxRequest()), g.confirmed(wxRequest()), g.phone()
			asks := phone.scan(asked)
			g.clients.mu.Lock()
			c := *g.clients.all["wx"]
			change(&c)
			g.clients.all["wx"] = &c
			g.clients.mu.Unlock()
			confirmed.wantState(402)
			g.isError(confirmed.get(tokenIssuer+"/connect/qrconnect?uuid="+confirmed.id), http.StatusGone)
			g.isError(phone.submit(asks, "number", asked.number, "decision", "confirm"), http.StatusGone)
			g.isError(phone.get(confirmURL(asked.id)), http.StatusGone)
		})
	}
}
