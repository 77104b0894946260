package authserver

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	useConfirm = "confirm"
)

var (
	errTicketGone  = refusal.New(http.StatusGone, "gone", "")
	errTicketTaken = refusal.New(http.StatusConflict, "taken", "")
)

// confirmGet binds the ticket to the first who comes signed in, and asks. Nothing is
// confirmed by it, whatever was allowed before: who was sent a link has seen no page yet.
// Somebody who is not signed in learns nothing about the ticket.
func (s *signIn) confirmGet(w http.ResponseWriter, r *http.Request) error {
	p, refused := query.Parse(r.URL.RawQuery)
	if refused != nil {
		return refused
	}
	id := p.Get("uuid")
	if p.Count("uuid") != 1 || !isTicketID(id) {
		return errTicketGone
	}
	b, err := s.welcome(w, r)
	if err != nil {
		return err
	}
	who, err := s.whoMay(r)
	if err != nil {
		return err
	}
	if who == nil {
		return s.showLogin(w, r, b, loginPage{next: s.confirmNext(id)})
	}
	a, err := s.approach(r, id, who)
	if err != nil {
		return err
	}
	if a.ticket.Final() {
		return s.showConfirmed(w, r, a, a.done())
	}
	if a.ticket.State == store.TicketPending {
		// A link of another site binds nobody: it would tell that site, on a screen of its
		// own, who of its visitors is signed in here.
		if !fromOwnPage(r) {
			return s.showDevice(w, r, b, who, http.StatusOK, webui.EnterCodeView{UserCode: page.UserCode(a.ticket.UserCode)})
		}
		if err := s.scan(r, &a); err != nil {
			return err
		}
	}
	return s.showConfirm(w, r, b, a, http.StatusOK)
}

// approval is a ticket and who stands before it.
type approval struct {
	id     string
	ticket store.Ticket
	title  string // of the client
	// unverified says that the client gave itself that name.
	unverified bool
	// page is what is said about the client: see consentPage.
	page string
	who  *person
}

func (a approval) person() crossdevice.Person {
	return crossdevice.Person{Subject: a.who.user.ID, Session: a.who.digest, AuthTime: a.who.session.AuthTime}
}

// done is how a ticket ended, for the page.
func (a approval) done() string {
	if a.ticket.State == store.TicketConfirmed {
		return "confirmed"
	}
	return "denied"
}

// approach finds a ticket for somebody who is signed in.
func (s *signIn) approach(r *http.Request, id string, who *person) (approval, error) {
	a := approval{id: id, who: who}
	var err error
	a.ticket, err = s.CrossDevice.Find(r.Context(), id)
	if errors.Is(err, crossdevice.ErrGone) {
		return a, s.guessed(r, errTicketGone)
	}
	if err != nil {
		return a, err
	}
	client, err := s.ticketClient(r.Context(), a.ticket)
	if err != nil {
		return a, err
	}
	a.title, a.unverified, a.page = client.Title(), client.SelfRegistered, consentPage(client, a.ticket.RedirectURI)
	switch {
	case a.ticket.Scanner != "" && (a.ticket.Scanner != who.digest || a.ticket.Subject != who.user.ID):
		return a, errTicketTaken
	case a.ticket.Over(s.Now()):
		return a, errTicketGone
	}
	return a, nil
}

func (s *signIn) scan(r *http.Request, a *approval) error {
	if err := s.mayScan(r); err != nil {
		return err
	}
	var err error
	a.ticket, err = s.CrossDevice.Scan(r.Context(), a.id, a.person())
	if err != nil {
		return ticketError(err)
	}
	s.Audit.Record(r.Context(), audit.Event{Name: audit.TicketScanned, Client: a.ticket.Client, Subject: a.who.user.ID, Scopes: a.ticket.Scopes, Reason: string(a.ticket.Kind)})
	return nil
}

// confirmPost takes the answer, once. The form's token names the user who saw the page.
func (s *signIn) confirmPost(w http.ResponseWriter, r *http.Request) error {
	b, form, err := s.receive(r)
	if err != nil {
		return err
	}
	plain, err := b.keys.Open(useConfirm, form.Get("request"), []byte(b.id))
	if err != nil {
		return errForbidden
	}
	id, shown, _ := strings.Cut(string(plain), " ")
	who, err := s.whoMay(r)
	if err != nil {
		return err
	}
	if who == nil {
		return s.showLogin(w, r, b, loginPage{next: s.confirmNext(id)})
	}
	if !b.checkToken(form.Get("token"), useConfirm, who.user.ID) {
		return errForbidden
	}
	a, err := s.approach(r, id, who)
	switch {
	case err != nil:
		return err
	case a.ticket.State == store.TicketPending: // whoever scans it does so first
		return errForbidden
	}
	switch form.Get("decision") {
	case "confirm":
		if shown != a.page && !a.ticket.Final() { // the client changed while the page was open
			return s.showConfirm(w, r, b, a, http.StatusOK)
		}
		return s.confirmed(w, r, b, a, form)
	case "deny":
		return s.decide(w, r, a, false, "")
	}
	return oauth.E(oauth.InvalidRequest, "decision must be confirm or deny")
}

// confirmed is a yes. An empty field is a slip and no wrong number.
func (s *signIn) confirmed(w http.ResponseWriter, r *http.Request, b browser, a approval, form httpx.Form) error {
	number := form.Get("number")
	if a.ticket.Number != "" && strings.TrimSpace(number) == "" && !a.ticket.Final() {
		return s.showConfirm(w, r, b, a, http.StatusBadRequest)
	}
	if !a.ticket.Final() && crossdevice.RightNumber(a.ticket, number) {
		if err := s.allow(r.Context(), b.keys, a); err != nil {
			return ticketError(err)
		}
	}
	return s.decide(w, r, a, true, number)
}

func (s *signIn) decide(w http.ResponseWriter, r *http.Request, a approval, allow bool, number string) error {
	// Who pressed a button has decided, and what follows is not undone by a browser that
	// went away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), endPatience)
	defer cancel()
	var err error
	a.ticket, err = s.CrossDevice.Decide(ctx, a.id, a.person(), allow, number)
	event := audit.Event{Name: audit.TicketDenied, Client: a.ticket.Client, Subject: a.who.user.ID, Scopes: a.ticket.Scopes, Reason: string(a.ticket.Kind)}
	switch {
	case errors.Is(err, crossdevice.ErrNumber):
		event.Reason = "number"
		s.Audit.Record(ctx, event)
		return s.showConfirmed(w, r, a, "wrong")
	case errors.Is(err, crossdevice.ErrDecided): // the same form once more: what it came to
		return s.showConfirmed(w, r, a, a.done())
	case err != nil:
		return ticketError(err)
	}
	if allow {
		event.Name = audit.TicketConfirmed
	}
	s.Audit.Record(ctx, event)
	return s.showConfirmed(w, r, a, a.done())
}

// ticketError is what a person is told of a move that the ticket did not make.
func ticketError(err error) error {
	switch {
	case errors.Is(err, crossdevice.ErrGone), errors.Is(err, crossdevice.ErrExpired):
		return errTicketGone
	case errors.Is(err, crossdevice.ErrTaken), errors.Is(err, crossdevice.ErrDecided):
		return errTicketTaken
	}
	return err
}
