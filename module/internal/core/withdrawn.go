package core

import (
	"context"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/store"
)

// Verifier verifies tokens under one configuration: those of a client that is neither in it nor
// in the store are refused, so the tokens of a client that is removed die with the reload.
// A configuration with neither clients nor a site with `oauth_server` guards what an authorization
// server elsewhere issues, and knows nothing about its clients.
//
// The tokens of a locked or deleted user are refused, too, if the directory can answer for every
// request; otherwise they are valid until they expire, and are not refreshed.
type Verifier struct {
	Core    *Core
	Clients *clientstore.Registry
	Users   directory.Directory
}

// withdrawer is implemented by directories that hold all users in memory.
type withdrawer interface {
	// Withdrawn reports whether the user with this ID is locked or there is none.
	// It MUST NOT wait for anything. An error is technical.
	Withdrawn(ctx context.Context, id string) (bool, error)
}

// Verify implements guard.Verifier.
func (v Verifier) Verify(ctx context.Context, raw string) (*token.Access, error) {
	ctx = store.OneRequest(ctx)
	access, err := v.Core.Verify(ctx, raw)
	if err == nil && v.Clients.Complete {
		switch there, err := v.Clients.Exists(ctx, access.Client); {
		case err != nil:
			return nil, err
		case !there:
			return nil, token.Refuse(token.ClientGone, access)
		}
	}
	if err != nil {
		return access, err
	}
	switch gone, err := v.userGone(ctx, access.Subject); {
	case err != nil:
		return nil, err
	case gone:
		return nil, token.Refuse(token.UserGone, access)
	}
	return access, nil
}

// userGone reports whether the directory knows that there is no such user, or that the user is locked.
func (v Verifier) userGone(ctx context.Context, subject string) (bool, error) {
	users, ok := v.Users.(withdrawer)
	if !ok || strings.HasPrefix(subject, token.ClientSubject) {
		return false, nil
	}
	return users.Withdrawn(ctx, subject)
}

// StillPermits reports whether what a token permitted when it was verified, which may be days ago, has not been ended
// since: with its user, by the user who withdrew it from the client, or with the client or the key. The token may have
// expired. Errors are technical.
func (v Verifier) StillPermits(ctx context.Context, access *token.Access, verified time.Time) (bool, error) {
	if v.Core.Revocations.KeyRevoked(access.KeyID) {
		return false, nil
	}
	if v.Clients.Complete {
		if same, err := v.Clients.IsSameSince(ctx, access.Client, verified); err != nil || !same {
			return false, err
		}
	}
	if ended, err := ending.Ended(ctx, v.Core.Store, access.Subject, access.Client, access.Epochs); err != nil || ended {
		return false, err
	}
	gone, err := v.userGone(ctx, access.Subject)
	return !gone, err
}

// Cached tells guards which tokens are cheap to verify.
func (v Verifier) Cached(raw string) bool { return v.Core.verifier.Cached(raw) }
