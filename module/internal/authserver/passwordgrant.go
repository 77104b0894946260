package authserver

import (
	"context"
	"log/slog"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// CheckPassword implements [grant.Passwords] with what the login page does: one count of
// failures for each name, user and address, one queue for hashing. There is no browser here
// that signed the user in before, so the lock of unknown browsers holds.
func (s *signIn) CheckPassword(ctx context.Context, r grant.Request, username, password string) (directory.User, bool, error) {
	if len(password) > directory.MaxPassword || !validUsername(username) {
		return directory.User{}, false, oauth.E(oauth.InvalidRequest, "the user name or the password is too long")
	}
	o, err := s.try(ctx, attempted{username: username, password: password, address: r.Address, client: !r.Client.Public})
	if err != nil {
		s.Metrics.SignIn("error")
		return directory.User{}, false, refusal.OrUnavailable(err)
	}
	s.Metrics.SignIn(string(o.verdict))
	if o.verdict == accepted {
		return o.user, true, nil
	}
	s.Log.Info("sign-in refused", slog.String("outcome", string(o.verdict)), slog.String("address", r.Address), slog.String("grant", string(oauth.Password)))
	s.Audit.Record(ctx, s.failed(ctx, username, o, r.Client.ID))
	if o.verdict == limited {
		return directory.User{}, false, oauth.TooMany("too many sign-in attempts from this address, try again later", o.retry)
	}
	return directory.User{}, false, nil
}
