package confirm

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/authcode"
	"github.com/gatehouse/gatehouse/module/internal/authserver/consent"
	"github.com/gatehouse/gatehouse/module/internal/authserver/login"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// useConfirm is the use of the keys' secret, and the action of the form's token.
const useConfirm = "confirm"

// decisionPatience bounds a decision whose browser has gone.
const decisionPatience = 30 * time.Second

// scansOfAddress keeps one phone (IPv6: one /64) from binding all codes on the screens around it.
var scansOfAddress = lockout.Rule{Limit: 30, Window: time.Minute}

// Endpoint is the second device's side, for codes that are scanned and codes that are typed: whoever signs in here
// decides about the request of the first device. All fields are needed.
type Endpoint struct {
	*login.Page
	Tickets    Tickets
	Codes      authcode.Codes
	ScopeTexts page.ScopeTexts
	// CodeLife is how long a code can be redeemed after its delivery.
	CodeLife time.Duration
}

// Get binds the ticket to the first signed-in user who opens the page, and asks for confirmation. It confirms nothing,
// even where consent is remembered: a user who was sent a link has seen no page yet. Visitors who are not signed in
// learn nothing about the ticket.
func (e *Endpoint) Get(w http.ResponseWriter, r *http.Request) error {
	p, err := query.Parse(r.URL.RawQuery)
	if err != nil {
		return err
	}
	id := p.Get("uuid")
	if p.Count("uuid") != 1 || !IsTicketID(id) {
		return errGone()
	}
	b, err := e.Welcome(w, r)
	if err != nil {
		return err
	}
	who, err := e.Require(w, r, b, e.path(id))
	if who == nil {
		return err
	}
	a, err := e.findTicket(r, id, who)
	if err != nil {
		return err
	}
	if a.ticket.Final() {
		return e.showConfirmed(w, r, a, a.done())
	}
	if a.ticket.State == store.TicketPending {
		// A link of another site binds nobody: it would tell that site, on a screen of its
		// own, who of its visitors is signed in here.
		if !session.FromOwnPage(r) {
			return e.showCodePage(w, r, b, who, http.StatusOK, webui.EnterCodeView{UserCode: page.UserCode(a.ticket.UserCode)})
		}
		if err := e.scan(r, &a); err != nil {
			return err
		}
	}
	return e.showConfirm(w, r, b, a, http.StatusOK)
}

// approval is a ticket and the user who decides about it.
type approval struct {
	id     string
	ticket store.Ticket
	title  string // of the client
	// unverified says that the client gave itself its name.
	unverified bool
	// page is what is said about the client: see consent.PageOf.
	page string
	who  *session.SignedIn
}

func (a approval) person() crossdevice.Person {
	return crossdevice.Person{Subject: a.who.User.ID, Session: a.who.Digest, AuthTime: a.who.Session.AuthTime}
}

// done is how a ticket ended, for the page.
func (a approval) done() string {
	if a.ticket.State == store.TicketConfirmed {
		return "confirmed"
	}
	return "denied"
}

// findTicket finds a ticket for somebody who is signed in.
func (e *Endpoint) findTicket(r *http.Request, id string, who *session.SignedIn) (approval, error) {
	a := approval{id: id, who: who}
	var err error
	a.ticket, err = e.Tickets.Find(r.Context(), id)
	if errors.Is(err, crossdevice.ErrGone) {
		return a, e.Tickets.CountGuess(r, errGone())
	}
	if err != nil {
		return a, err
	}
	client, err := e.Tickets.ClientOf(r.Context(), a.ticket)
	if err != nil {
		return a, err
	}
	a.title, a.unverified, a.page = client.Title(), client.SelfRegistered, consent.PageOf(client, a.ticket.RedirectURI)
	switch {
	case a.ticket.Scanner != "" && (a.ticket.Scanner != who.Digest || a.ticket.Subject != who.User.ID):
		return a, errTaken()
	case a.ticket.Over(e.Now()):
		return a, errGone()
	}
	return a, nil
}

func (e *Endpoint) scan(r *http.Request, a *approval) error {
	if err := refusal.Limited(e.Tickets.Attempts.Take(e.Tickets.CountKey(r, "scan"), scansOfAddress)); err != nil {
		return err
	}
	var err error
	a.ticket, err = e.Tickets.Scan(r.Context(), a.id, a.person())
	if err != nil {
		return ticketError(err)
	}
	e.Audit.Record(r.Context(), audit.Event{Name: audit.TicketScanned, Client: a.ticket.Client, Subject: a.who.User.ID, Scopes: a.ticket.Scopes, Reason: string(a.ticket.Kind)})
	return nil
}

// Post takes the decision, once. The form's token names the user who saw the page.
func (e *Endpoint) Post(w http.ResponseWriter, r *http.Request) error {
	b, form, err := e.ReceiveForm(r)
	if err != nil {
		return err
	}
	plain, err := b.Open(useConfirm, form.Get("request"))
	if err != nil {
		return refusal.Forbid()
	}
	id, shown, _ := strings.Cut(string(plain), " ")
	who, err := e.Require(w, r, b, e.path(id))
	if who == nil {
		return err
	}
	if !b.CheckToken(form.Get("token"), useConfirm, who.User.ID) {
		return refusal.Forbid()
	}
	a, err := e.findTicket(r, id, who)
	switch {
	case err != nil:
		return err
	case a.ticket.State == store.TicketPending: // whoever scans it does so first
		return refusal.Forbid()
	}
	switch form.Get("decision") {
	case "confirm":
		if shown != a.page && !a.ticket.Final() { // the client changed while the page was open
			return e.showConfirm(w, r, b, a, http.StatusOK)
		}
		return e.confirm(w, r, b, a, form)
	case "deny":
		return e.decide(w, r, a, false, "")
	}
	return oauth.E(oauth.InvalidRequest, "decision must be confirm or deny")
}

// confirm takes a confirmation. An empty field counts as a slip, not as a wrong number.
func (e *Endpoint) confirm(w http.ResponseWriter, r *http.Request, b session.Browser, a approval, form httpx.Form) error {
	number := form.Get("number")
	if a.ticket.Number != "" && strings.TrimSpace(number) == "" && !a.ticket.Final() {
		return e.showConfirm(w, r, b, a, http.StatusBadRequest)
	}
	if !a.ticket.Final() && crossdevice.RightNumber(a.ticket, number) {
		if err := e.allow(r.Context(), b.Keys, a); err != nil {
			return ticketError(err)
		}
	}
	return e.decide(w, r, a, true, number)
}

func (e *Endpoint) decide(w http.ResponseWriter, r *http.Request, a approval, allow bool, number string) error {
	// The user has decided by pressing the button, even if the browser goes away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), decisionPatience)
	defer cancel()
	var err error
	a.ticket, err = e.Tickets.Decide(ctx, a.id, a.person(), allow, number)
	event := audit.Event{Name: audit.TicketDenied, Client: a.ticket.Client, Subject: a.who.User.ID, Scopes: a.ticket.Scopes, Reason: string(a.ticket.Kind)}
	switch {
	case errors.Is(err, crossdevice.ErrNumber):
		event.Reason = "number"
		e.Audit.Record(ctx, event)
		return e.showConfirmed(w, r, a, "wrong")
	case errors.Is(err, crossdevice.ErrDecided): // the same form once more: what it came to
		return e.showConfirmed(w, r, a, a.done())
	case err != nil:
		return ticketError(err)
	}
	if allow {
		event.Name = audit.TicketConfirmed
	}
	e.Audit.Record(ctx, event)
	return e.showConfirmed(w, r, a, a.done())
}

// ticketError returns the refusal for a change that the state of the ticket did not allow.
func ticketError(err error) error {
	switch {
	case errors.Is(err, crossdevice.ErrGone), errors.Is(err, crossdevice.ErrExpired):
		return errGone()
	case errors.Is(err, crossdevice.ErrTaken), errors.Is(err, crossdevice.ErrDecided):
		return errTaken()
	}
	return err
}
