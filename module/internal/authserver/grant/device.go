package grant

import (
	"context"
	"errors"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Tickets finds the ticket of a device_code. Besides technical errors there is [crossdevice.ErrGone].
type Tickets interface {
	Find(ctx context.Context, id string) (store.Ticket, error)
}

// deviceCode is RFC 8628 section 3.4. A confirmed request is redeemed like an authorization code, under the digest of
// the secret half of the device_code.
type deviceCode struct {
	codes
	tickets Tickets
	pace    *pace
}

func (g *deviceCode) Type() oauth.GrantType { return oauth.DeviceCode }

// DeviceCode joins the two halves of a device_code: the ticket, and the secret whose digest is its Poller.
func DeviceCode(ticket, key string) string { return ticket + "." + key }

func (g *deviceCode) Prepare(ctx context.Context, r Request) (Pending, error) {
	sent := r.Form.Get("device_code")
	if sent == "" {
		return Pending{}, oauth.Parameter("device_code", "is missing")
	}
	id, key, _ := strings.Cut(sent, ".")
	if len(key) > maxCode {
		return Pending{}, g.gone(Unknown)
	}
	ticket, err := g.tickets.Find(ctx, id)
	switch {
	case errors.Is(err, crossdevice.ErrGone):
		return g.prepareCode(ctx, r, key, g.checkUsed)
	case err != nil:
		return Pending{}, err
	case ticket.Kind != store.TicketDevice, !secret.Equal([]byte(ticket.Poller), []byte(secret.Digest(key))):
		return Pending{}, g.gone(Unknown)
	case ticket.Client != r.Client.ID, ticket.IssuedAt.Before(r.Client.Since):
		return Pending{}, g.gone(Foreign)
	case ticket.State == store.TicketConfirmed:
		return g.redeemTicket(ctx, r, key, ticket)
	case ticket.State == store.TicketDenied:
		return Pending{}, errDenied
	case ticket.Over(g.Now()):
		return Pending{}, errExpired
	case !g.pace.allows(id):
		return Pending{}, errSlowDown
	}
	return Pending{}, errPending
}

// redeemTicket redeems a confirmed ticket. A device_code lives long enough for its client to be removed from the
// configuration and for another one to appear with the same ID.
func (g *deviceCode) redeemTicket(ctx context.Context, r Request, key string, ticket store.Ticket) (Pending, error) {
	if err := g.checkClient(ctx, r.Client, store.Grant{Client: ticket.Client, IssuedAt: ticket.IssuedAt}); err != nil {
		return Pending{}, err
	}
	pending, err := g.prepareCode(ctx, r, key, func(code store.Code) error {
		if code.Subject != ticket.Subject {
			return g.gone(Unknown)
		}
		return nil
	})
	if no := (*Refusal)(nil); errors.As(err, &no) && no.Why == Expired {
		return Pending{}, errExpired
	}
	return pending, err
}

// checkUsed refuses a device_code whose ticket is gone and that was never used. A second use of a code is
// detected for as long as anything that it issued can live.
func (g *deviceCode) checkUsed(code store.Code) error {
	if code.State == store.CodeIssued {
		return g.gone(Unknown)
	}
	return nil
}

// The errors of RFC 8628 section 3.5. They are not faults of the client, so the status is 400 for
// slow_down, too.
var (
	errPending  = oauth.E(oauth.AuthorizationPending, "nobody has confirmed this yet")
	errSlowDown = oauth.E(oauth.SlowDown, "wait five seconds longer between two requests").WithStatus(400)
	errDenied   = oauth.E(oauth.AccessDenied, "the user did not allow this")
	errExpired  = oauth.E(oauth.ExpiredToken, "nobody confirmed this in time")
)
