package qrlogin

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/authserver/authorize"
	"github.com/gatehouse/gatehouse/module/internal/authserver/confirm"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// qrPage is a ticket as it is shown to the browser that began it.
type qrPage struct {
	id     string
	ticket store.Ticket
	client *oauth.Client
	code   string // confirmed, in a frame: for the window around it
}

// show shows the page of a ticket.
func (e *Endpoint) show(w http.ResponseWriter, r *http.Request, p qrPage) error {
	t := p.ticket
	self := "?uuid=" + p.id
	v := webui.QRView{
		Lang: e.Pages.Language(r, t.Locales), Client: p.client.Title(), Host: page.Destination(t.RedirectURI),
		Image: e.Site.Base + page.QRImages + p.id, Address: e.confirmAddress(p.id), UserCode: page.UserCode(t.UserCode), Entry: e.Site.URL(page.DevicePath),
		Number: t.Number, State: e.stateName(t), Poll: e.Site.Base + page.QRPollPath + self, Script: e.Site.Base + page.WaitScript,
		Refresh: e.Site.Base + page.QRPath + self, Again: query.AppendTo(e.Site.Base+page.QRPath, ticketParams(t)...),
		Redirect: t.RedirectURI, ClientState: t.ClientState, Code: p.code, Top: t.TopLevel, Small: t.Framed,
	}
	if t.Framed {
		v.Frames = p.client.FrameOrigins
	}
	e.Pages.QR(w, http.StatusOK, v)
	return nil
}

func (e *Endpoint) confirmAddress(id string) string {
	return e.Site.URL(page.ConfirmPath + "?uuid=" + id)
}

// stateName is the state of a ticket as the page names it.
func (e *Endpoint) stateName(t store.Ticket) string {
	if t.Over(e.Now()) {
		return "expired"
	}
	return map[store.TicketState]string{
		store.TicketPending: "waiting", store.TicketScanned: "scanned",
		store.TicketConfirmed: "confirmed", store.TicketDenied: "denied",
	}[t.State]
}

// ticketParams are names and values with which the request of a ticket can be made once more.
func ticketParams(t store.Ticket) []string {
	q := authorize.Request{Client: t.Client, RedirectURI: t.RedirectURI, Scopes: t.Scopes, State: t.ClientState, Challenge: t.Challenge, Locales: t.Locales}
	all := q.ConnectParams()
	if t.Framed {
		all = append(all, "login_type", authorize.Embedded, "self_redirect", strconv.FormatBool(!t.TopLevel))
	}
	return all
}

// GetImage answers with the picture of a code. The page says the same as a link, so whoever knows the
// address may have it.
func (e *Endpoint) GetImage(w http.ResponseWriter, r *http.Request) error {
	id := strings.TrimPrefix(r.URL.Path, e.Site.Base+page.QRImages)
	if !confirm.IsTicketID(id) {
		return refusal.New(http.StatusNotFound, refusal.NotFound, "")
	}
	image, err := webui.QRImage(e.confirmAddress(id))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "image/png")
	h.Set("Content-Length", strconv.Itoa(len(image)))
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(image) // fails only when the browser has gone
	return nil
}
