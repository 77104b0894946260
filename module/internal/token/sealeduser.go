package token

import (
	"context"
	"errors"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// A pairwise token names its user in sub as its client does, so that no two clients can compare notes (OpenID Connect
// Core section 8.1). The real user stands in the claim sealed_sub, which is encrypted: our guards open it, others see
// only that it is there.

// useUser is the purpose under which users are sealed.
const useUser = "user of a token"

type secretsFunc func(context.Context) (*secret.Keys, error)

// sealUser returns sub and, for a pairwise token, the sealed user. Errors are technical.
func sealUser(ctx context.Context, secrets secretsFunc, a Access) (named, sealed string, err error) {
	if a.Pairwise == "" {
		return a.Subject, "", nil
	}
	keys, err := secrets(ctx)
	if err != nil {
		return "", "", err
	}
	if strings.HasSuffix(a.Subject, padding) {
		return "", "", errPadded
	}
	return a.Pairwise, keys.Seal(useUser, padded(a.Subject), userOf(a.Client, a.Pairwise)), nil
}

// openUser replaces the pairwise name by the user. A token whose user cannot be read is [ErrInvalid], since ending
// its user would not end it. Other errors are technical.
func openUser(ctx context.Context, secrets secretsFunc, p *parsed) error {
	keys, err := secrets(ctx)
	if err != nil {
		return err
	}
	user, err := keys.Open(useUser, p.sealed, userOf(p.Client, p.Subject))
	name := strings.TrimRight(string(user), padding)
	if err != nil || name == "" {
		return errUser
	}
	p.Pairwise, p.Subject, p.sealed = p.Subject, name, ""
	return nil
}

// Padding keeps two clients that compare the lengths of sealed users from learning which of them cannot be the same.
// Few user ids are longer than a block.
const (
	padding   = "\x00"
	sealBlock = 64 // bytes
)

var errPadded = errors.New("token: a user id that ends in NUL cannot be sealed")

func padded(user string) []byte {
	b := make([]byte, (len(user)+sealBlock-1)/sealBlock*sealBlock)
	copy(b, user)
	return b
}

// userOf binds a sealed user to the client and the pairwise name, so that the claim of one token is invalid in
// another. No client has an id with NUL.
func userOf(client, pairwise string) []byte { return []byte(client + "\x00" + pairwise) }
