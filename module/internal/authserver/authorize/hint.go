package authorize

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// readHint reads the user of id_token_hint into the request (OpenID Connect Core section
// 3.1.2.1): an id_token that this client was given once, however long ago.
func (e *Endpoint) readHint(ctx context.Context, p query.Params, q *Request) error {
	raw := p.Get("id_token_hint")
	if raw == "" {
		return nil
	}
	id, err := e.Tokens.ReadHint(ctx, raw)
	switch {
	case errors.Is(err, token.ErrInvalid):
		return q.refuse(oauth.InvalidRequest, "id_token_hint is not an id_token of this server")
	case err != nil:
		return err
	case id.Client != q.Client:
		return q.refuse(oauth.InvalidRequest, "id_token_hint is not an id_token of this client")
	}
	q.Hint = id.Subject
	return nil
}
