package admin

import (
	"errors"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

type tokenQuestion struct {
	Token string `json:"token"`
}

// inspectToken says what an access token contains and which check it fails. It takes the token
// in the body, because addresses end up in logs.
func inspectToken(c *call, in tokenQuestion) (any, error) {
	if in.Token == "" {
		return nil, badField("token", "expected an access token")
	}
	if strings.ContainsAny(in.Token, " \t\r\n") {
		return nil, badField("token", "expected an access token alone, without blanks")
	}
	out := adminapi.TokenInspection{Genuine: true, Now: time.Now().UTC()}
	_, err := c.Verify(c.r.Context(), in.Token)
	var refused *token.RefusedError
	switch {
	case errors.As(err, &refused):
		out.Genuine, out.Refusal = refused.Access != nil, string(refused.Refusal)
	case errors.Is(err, token.ErrInvalid):
		out.Genuine, out.Refusal = false, string(token.OtherRefusal)
	case err != nil:
		return nil, err
	}
	if u, ok := token.ReadUnverified(in.Token); ok {
		out.Token = &adminapi.TokenContent{
			Type: u.Type, Alg: u.Alg, KeyID: u.KeyID, ID: u.ID, Issuer: u.Issuer, Subject: u.Subject, Client: u.Client,
			Audience: append([]string{}, u.Audience...), Scopes: append([]string{}, u.Scopes...),
			IssuedAt: u.IssuedAt, NotBefore: u.NotBefore, Expires: u.Expires,
		}
	}
	return out, nil
}
