package restapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/signin"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// keepers has the sessions at APIs, by a digest of what they were made from: a reload that changes
// nothing of that keeps the session and the back-off.
var keepers = caddy.NewUsagePool()

type pooledKeeper struct{ *login.Keeper }

// Destruct implements caddy.Destructor.
func (pooledKeeper) Destruct() error { return nil }

// newSignIn returns the gateway's account at an API, and the key of its session in keepers. It is
// nil if c is. from identifies the API: two APIs never share a session.
func (h *REST) newSignIn(c *login.Config, to route, reveals bool, from []byte) (account *signin.SignIn, key string, err error) {
	if c == nil {
		return nil, "", nil
	}
	if to == nil {
		return nil, "", errors.New("login needs an upstream of its own: expected `to`")
	}
	plan, err := login.New(c)
	if err != nil {
		return nil, "", err
	}
	fields := signInFields(h.Fixed)
	if key, err = sessionKey(c, fields, from); err != nil {
		return nil, "", err
	}
	pooled, _, err := keepers.LoadOrNew(key, func() (caddy.Destructor, error) { return pooledKeeper{login.NewKeeper(time.Now)}, nil })
	if err != nil {
		return nil, "", err
	}
	return signin.New(signin.Config{
		Plan: plan, Keeper: pooled.(pooledKeeper).Keeper, To: to, Fill: fill, StatusOf: statusOf,
		Fields: fields, Reveals: reveals, Withhold: c.AnswerFields(), MaxBody: h.MaxBody, Log: h.log,
		NewRequest: func(ctx context.Context, w http.ResponseWriter, up mapping.Upstream) *http.Request {
			return upstreamRequest(ctx, w, nil, up)
		},
	}), key, nil
}

// sessionKey identifies a session: configurations with the same key share it.
func sessionKey(c *login.Config, fields []supply.Param, from []byte) (string, error) {
	sum := sha256.New()
	declared, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprintf(sum, "%q %q", declared, from)
	for _, step := range c.Steps {
		for _, v := range step.Send {
			value, err := fill(v.Value)
			_, _ = fmt.Fprintf(sum, " %q %t", value, err == nil) // a password that was put right is tried at once
		}
	}
	for _, p := range fields {
		value, err := fill(p.Value)
		_, _ = fmt.Fprintf(sum, " %q %q %t", p.Name, value, err == nil)
	}
	return string(sum.Sum(nil)), nil
}

// fill fills in the placeholders of a step of a sign-in, which belongs to no request.
func fill(written string) (string, error) {
	value, err := caddy.NewReplacer().ReplaceOrErr(written, true, true)
	if err != nil {
		return "", fmt.Errorf("%s: %w", written, err)
	}
	return value, nil
}
