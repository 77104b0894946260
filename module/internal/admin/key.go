package admin

import (
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
)

func listKeys(c *call) (any, error) {
	keys, err := c.Ring.List(c.r.Context())
	return adminapi.List[keyring.SigningKey]{Items: append([]keyring.SigningKey{}, keys...)}, err
}

type keyRotation struct {
	Alg string `json:"alg"`
}

// rotateKeys makes the next key of one algorithm, or of each in use. It is published
// before it signs.
func rotateKeys(c *call, in keyRotation) (any, error) {
	keys, err := c.Ring.Rotate(c.r.Context(), in.Alg, keyring.WhyCommand)
	if errors.Is(err, keyring.ErrUnknownKey) {
		err = badField("alg", "expected ES256, RS256 or EdDSA")
	}
	return adminapi.List[keyring.SigningKey]{Items: keys}, err
}

// revokeKey ends a leaked key: what it signed dies within a second, on every node.
func revokeKey(c *call) (any, error) {
	_, err := c.Ring.Revoke(c.r.Context(), c.names[0])
	if errors.Is(err, keyring.ErrUnknownKey) {
		err = notFound("there is no signing key " + c.names[0] + "; `caddy gatehouse keys list` shows them")
	}
	return nil, err
}
