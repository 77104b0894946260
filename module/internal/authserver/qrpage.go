package authserver

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// qrPage is a ticket as the browser that began it sees it.
type qrPage struct {
	id     string
	ticket store.Ticket
	client *oauth.Client
	code   string // confirmed, in a frame: for the window around it
}

// showQR shows it. Every address is made of the issuer: a Host header that somebody sends
// must not lead the phone elsewhere.
func (s *signIn) showQR(w http.ResponseWriter, r *http.Request, p qrPage) error {
	t := p.ticket
	self := "?uuid=" + p.id
	v := webui.QRView{
		Lang: s.Pages.Language(r, t.Locales), Client: p.client.Title(), Host: page.Destination(t.RedirectURI),
		Image: s.base + page.QRImages + p.id, Address: s.confirmAddress(p.id), UserCode: page.UserCode(t.UserCode), Entry: s.url("/device"),
		Number: t.Number, State: s.ticketWord(t), Poll: s.base + page.QRPollPath + self, Script: s.base + page.WaitScript,
		Refresh: s.base + page.QRPath + self, Again: query.AppendTo(s.base+page.QRPath, qrParams(t)...),
		Redirect: t.RedirectURI, ClientState: t.ClientState, Code: p.code, Top: t.TopLevel, Small: t.Framed,
	}
	if t.Framed {
		v.Frames = p.client.FrameOrigins
	}
	s.Pages.QR(w, http.StatusOK, v)
	return nil
}

func (s *signIn) confirmAddress(id string) string { return s.url(page.ConfirmPath + "?uuid=" + id) }

// ticketWord is the state of a ticket as the page names it.
func (s *signIn) ticketWord(t store.Ticket) string {
	if t.Over(s.Now()) {
		return "expired"
	}
	return map[store.TicketState]string{
		store.TicketPending: "waiting", store.TicketScanned: "scanned",
		store.TicketConfirmed: "confirmed", store.TicketDenied: "denied",
	}[t.State]
}

// qrParams are names and values with which the request of a ticket can be made once more.
func qrParams(t store.Ticket) []string {
	q := request{Client: t.Client, RedirectURI: t.RedirectURI, Scopes: t.Scopes, State: t.ClientState, Challenge: t.Challenge, Locales: t.Locales}
	all := q.connectParams()
	if t.Framed {
		all = append(all, "login_type", embedded, "self_redirect", strconv.FormatBool(!t.TopLevel))
	}
	return all
}

// qrImageGet is the picture of a code. It says what stands beside it as a link, so whoever
// knows the address may have it.
func (s *signIn) qrImageGet(w http.ResponseWriter, r *http.Request) error {
	id := strings.TrimPrefix(r.URL.Path, s.base+page.QRImages)
	if !isTicketID(id) {
		return refusal.New(http.StatusNotFound, refusal.NotFound, "")
	}
	image, err := webui.QRImage(s.confirmAddress(id))
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
