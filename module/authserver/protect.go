package authserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/attempt"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// maxUsername is the longest name that is looked at, in bytes.
const maxUsername = 256

// authenticateTimeout bounds one check of a password.
const authenticateTimeout = 30 * time.Second

// errBusy means that too many passwords are being checked.
var errBusy = errors.New("too many passwords are being checked")

// outcome of an attempt to sign in, and a label of the metric.
const (
	signedIn = "ok"
	refused  = "refused"
	locked   = "locked"
	limited  = "limited"
	failed   = "error"
)

// attempt checks a password under the limits. For the caller a locked account and a
// wrong password are the same: only the metric tells them apart. wait is set when the
// address is limited.
func (s *signIn) attempt(r *http.Request, username, password string) (u directory.User, outcome string, wait time.Duration, err error) {
	address := "addr:" + httpx.AddressKey(s.ClientIP(r))
	ok, wait := s.Attempts.Take(address, attempt.Rule{Limit: s.Protect.PerAddress, Window: time.Minute})
	if !ok {
		return u, limited, wait, nil
	}
	account := "user:" + strings.ToLower(norm.NFKC.String(username))
	// Taken before the password is looked at, so that a burst of guesses cannot pass
	// between the check and the count.
	allowed, _ := s.Attempts.Take(account, attempt.Rule{
		Limit: s.Protect.LoginFailures, Window: s.Protect.LoginWindow, Lock: s.Protect.Lockout,
	})
	if !allowed {
		// A locked account costs what a wrong password costs, and the password is not looked at.
		username, password = "", "x"
	}
	u, ok, err = s.authenticate(r.Context(), username, password)
	switch {
	case err != nil:
		if allowed {
			s.Attempts.Return(account) // nothing was learnt from it
		}
		return u, failed, 0, err
	case !allowed:
		return directory.User{}, locked, 0, nil
	case !ok:
		return directory.User{}, refused, 0, nil
	}
	s.Attempts.Clear(account)
	return u, signedIn, 0, nil
}

// authenticate asks the directory when there is a place: hashes are made to be
// expensive, and a burst of sign-ins must not take the whole machine.
func (s *signIn) authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	queue, cancel := context.WithTimeout(ctx, s.Protect.HashQueueTimeout)
	defer cancel()
	select {
	case s.hashing <- struct{}{}:
	case <-queue.Done():
		return directory.User{}, false, errBusy
	}
	defer func() { <-s.hashing }()
	// A client that goes away does not stop the hash, so it must not free the place.
	ctx, cancelWork := context.WithTimeout(context.WithoutCancel(ctx), authenticateTimeout)
	defer cancelWork()
	return s.Directory.Authenticate(ctx, username, password)
}

// checkCredentials refuses what no user can have, before any hashing.
func checkCredentials(username, password string) bool {
	return len(username) <= maxUsername && len(password) <= directory.MaxPassword &&
		utf8.ValidString(username) && utf8.ValidString(password) && !strings.ContainsRune(username+password, 0)
}
