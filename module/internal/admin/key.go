package admin

import (
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
)

func listKeys(c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	keys, err := c.Ring.List(c.r.Context())
	if err != nil {
		return answer{}, err
	}
	return okay(adminapi.List[keyring.SigningKey]{Items: append([]keyring.SigningKey{}, keys...)})
}

// rotateKeys makes the next key of one algorithm, or of each in use. It is published
// before it signs.
func rotateKeys(c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	var in struct {
		Alg string `json:"alg"`
	}
	if err := c.readBody(&in); err != nil {
		return answer{}, err
	}
	keys, err := c.Ring.Rotate(c.r.Context(), in.Alg, keyring.WhyCommand)
	if errors.Is(err, keyring.ErrUnknownKey) {
		return answer{}, badField("alg", "expected ES256, RS256 or EdDSA")
	}
	if err != nil {
		return answer{}, err
	}
	return okay(adminapi.List[keyring.SigningKey]{Items: keys})
}

// revokeKey ends a leaked key: what it signed dies within a second, on every node.
func revokeKey(c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	_, err := c.Ring.Revoke(c.r.Context(), c.names[0])
	if errors.Is(err, keyring.ErrUnknownKey) {
		return answer{}, notFound("there is no signing key " + c.names[0] + "; `caddy gatehouse keys list` shows them")
	}
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}
