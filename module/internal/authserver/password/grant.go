package password

import (
	"context"
	"log/slog"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// CheckPassword implements [grant.Passwords] with what the login page does: one count of
// failures for each name, user and address, one queue for hashing. There is no browser here that
// signed the user in before, so the lock of unknown browsers holds.
func (c *Checker) CheckPassword(ctx context.Context, r grant.Request, username, password string) (directory.User, bool, error) {
	if err := CheckSize(username, password); err != nil {
		return directory.User{}, false, err
	}
	o, err := c.Check(ctx, Attempt{Username: username, Password: password, Address: r.Address, AuthenticatedAs: !r.Client.Public})
	if err != nil {
		c.SignIn("error")
		return directory.User{}, false, refusal.OrUnavailable(err)
	}
	c.SignIn(string(o.Verdict))
	if o.Verdict == Accepted {
		return o.User, true, nil
	}
	c.Log.Info("sign-in refused", slog.String("outcome", string(o.Verdict)), slog.String("address", r.Address), slog.String("grant", string(oauth.Password)))
	c.RecordFailure(ctx, username, o, r.Client.ID)
	if o.Verdict == Limited {
		return directory.User{}, false, oauth.TooMany("too many sign-in attempts from this address, try again later", o.Retry)
	}
	return directory.User{}, false, nil
}
