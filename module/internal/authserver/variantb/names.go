package variantb

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Names makes the identifiers of users at clients of Variant B: an openid for each client, a unionid for each
// owner of clients. Both are made once and kept. It is safe for concurrent use.
type Names struct {
	Store store.Backend
	// Keys returns the keys from which names are derived; its errors are technical.
	Keys func(context.Context) (*secret.Keys, error)
}

// The purposes of the MACs, and the kinds of names.
const (
	useOpenID  = "openid"
	useUnionID = "unionid"
)

// nameLength is the length of every name. The first letter is always the same: libraries recognize a name by
// both.
const (
	nameLength = 28
	nameFirst  = "o"
)

// openID returns the identifier of a user at a client. Errors are technical.
func (n *Names) openID(ctx context.Context, client, subject string) (string, error) {
	return n.name(ctx, useOpenID, client, subject)
}

// unionID returns the identifier of a user at all clients of one owner, or at the client alone
// if it has no owner. Errors are technical.
func (n *Names) unionID(ctx context.Context, c *oauth.Client, subject string) (string, error) {
	// IDs contain no NUL, so an owner cannot be mistaken for a client.
	of := "\x00" + c.ID
	if c.Owner != "" {
		of = c.Owner
	}
	return n.name(ctx, useUnionID, of, subject)
}

func (n *Names) name(ctx context.Context, use, of, subject string) (string, error) {
	key := store.Key{Kind: store.KindPairwise, ID: secret.Digest(use + secret.Digest(of) + secret.Digest(subject))}
	var v store.Pairwise
	_, err := store.Read(ctx, n.Store, key, &v)
	if !errors.Is(err, store.ErrNotFound) {
		return v.Name, err
	}
	keys, err := n.Keys(ctx)
	if err != nil {
		return "", err
	}
	mac := base64.RawURLEncoding.EncodeToString(keys.MAC(use, []byte(of), []byte(subject)))
	v = store.Pairwise{Name: nameFirst + mac[:nameLength-len(nameFirst)], Subject: subject, Of: of}
	value, err := store.Encode(&v)
	if err != nil {
		return "", err
	}
	_, err = n.Store.Create(ctx, store.Record{Key: key, Parent: subject, Value: value})
	if errors.Is(err, store.ErrExists) {
		// Another node was first, perhaps with another secret.
		_, err = store.Read(ctx, n.Store, key, &v)
	}
	return v.Name, err
}
