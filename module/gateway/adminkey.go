package gateway

import (
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

func listKeys(c *adminCall) (adminAnswer, error) {
	if _, err := c.query(); err != nil {
		return adminAnswer{}, err
	}
	keys, err := c.core.ring.List(c.r.Context())
	if err != nil {
		return adminAnswer{}, err
	}
	return okay(adminapi.List[token.SigningKey]{Items: append([]token.SigningKey{}, keys...)})
}

// rotateKeys makes the next key of one algorithm, or of each in use. It is published
// before it signs.
func rotateKeys(c *adminCall) (adminAnswer, error) {
	if _, err := c.query(); err != nil {
		return adminAnswer{}, err
	}
	var in struct {
		Alg string `json:"alg"`
	}
	if err := c.read(&in); err != nil {
		return adminAnswer{}, err
	}
	keys, err := c.core.ring.Rotate(c.r.Context(), in.Alg, token.WhyCommand)
	if errors.Is(err, token.ErrUnknownKey) {
		return adminAnswer{}, badField("alg", "expected ES256, RS256 or EdDSA")
	}
	if err != nil {
		return adminAnswer{}, err
	}
	return okay(adminapi.List[token.SigningKey]{Items: keys})
}

// revokeKey ends a leaked key: what it signed dies within a second, on every node.
func revokeKey(c *adminCall) (adminAnswer, error) {
	if _, err := c.query(); err != nil {
		return adminAnswer{}, err
	}
	_, err := c.core.ring.Revoke(c.r.Context(), c.names[0])
	if errors.Is(err, token.ErrUnknownKey) {
		return adminAnswer{}, notFound("there is no signing key " + c.names[0] + "; `caddy gatehouse keys list` shows them")
	}
	if err != nil {
		return adminAnswer{}, err
	}
	return adminAnswer{status: http.StatusNoContent}, nil
}
