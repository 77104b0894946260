package token

import (
	"context"
	"errors"
	"strings"
)

// A pairwise token names its user in sub as its client does, so that no two clients can
// compare notes (OpenID Connect Core section 8.1). Who it really is stands in a claim that
// is encrypted: guards of ours open it, others see that it is there.
const (
	sealedClaim = "sealed_sub"
	useUser     = "user of a token"
)

// sealUser gives sub and, for a pairwise token, the sealed user. Errors are technical.
func (r *Ring) sealUser(ctx context.Context, a Access) (named, sealed string, err error) {
	if a.Pairwise == "" {
		return a.Subject, "", nil
	}
	keys, err := r.keys(ctx)
	if err != nil {
		return "", "", err
	}
	if strings.HasSuffix(a.Subject, padding) {
		return "", "", errPadded
	}
	return a.Pairwise, keys.Seal(useUser, padded(a.Subject), userOf(a.Client, a.Pairwise)), nil
}

// openUser puts the user of a pairwise token in its place. One who cannot be told is
// [ErrInvalid]: a token without a user would be nobody's to end. Other errors are technical.
func (r *Ring) openUser(ctx context.Context, p *parsed) error {
	keys, err := r.keys(ctx)
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

// Two clients that compare the lengths of what is sealed would learn which of their users
// cannot be the same one. Few user ids are longer than a block.
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

// userOf binds a sealed user to the client and the name it goes by there, so that a claim
// taken from one token is nothing in another. No client has an id with NUL.
func userOf(client, pairwise string) []byte { return []byte(client + "\x00" + pairwise) }
