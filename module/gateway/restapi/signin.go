package restapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/signin"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// account returns how the gateway signs in to a version's upstream, nil if it does not. The
// handler's account is for the handler's upstream only.
func (v *Version) account(handlers *login.Config) *login.Config {
	if len(v.Upstream) > 0 || v.Login != nil {
		return v.Login
	}
	return handlers
}

// checkLogins reports errors in the gateway's sign-ins, and declarations that would give their
// sessions to clients or mix a client's session into them.
func (h *REST) checkLogins() error {
	if h.Login != nil && len(h.Upstream) == 0 && !h.unresolved {
		return errors.New("login needs an upstream of its own: expected `to`")
	}
	if err := h.checkLogin(h.Login, h.Resources); err != nil {
		return err
	}
	for i := range h.Versions {
		v := &h.Versions[i]
		if v.Login != nil && len(v.Upstream) == 0 {
			return fmt.Errorf("version %s: login needs an upstream of the version's own: expected `to` beside it, or login outside of the version", v.Name)
		}
		if err := h.checkLogin(v.account(h.Login), v.resources(h.Resources)); err != nil {
			return fmt.Errorf("version %s: %w", v.Name, err)
		}
	}
	return nil
}

func (h *REST) checkLogin(account *login.Config, resources []resource.Resource) error {
	if account == nil {
		return nil
	}
	if err := account.Check(); err != nil {
		return err
	}
	table, err := routes.New(h.withDefaults(resources, account, ""))
	if err != nil {
		return err
	}
	for _, o := range table.Operations() {
		if o.Answers.Shape.Fields.Named("Set-Cookie") || o.Requests.TakesCookies {
			return fmt.Errorf("resource %s: the session of login is in cookies that clients must neither see nor send: expected no header_up Cookie, and no header_down that lets Set-Cookie pass", o.Resource.Path)
		}
	}
	return nil
}

// keepers has the sessions at APIs by sessionKey: a reload that changes nothing in the key keeps the
// session and the back-off.
var keepers = caddy.NewUsagePool()

type pooledKeeper struct{ *login.Keeper }

// Destruct implements caddy.Destructor.
func (pooledKeeper) Destruct() error { return nil }

// Cleanup releases the workers of jobs, and the sessions at the upstreams. The last configuration that uses one ends it.
func (h *REST) Cleanup() error {
	if h.jobs != nil {
		h.jobs.lease.Leave()
	}
	released := map[*signin.SignIn]bool{nil: true}
	var all []error
	for _, e := range append([]edition{h.plain}, h.editions...) {
		if !released[e.api.Login] {
			released[e.api.Login] = true
			_, err := keepers.Delete(e.keeper)
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

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
		Plan: plan, Keeper: pooled.(pooledKeeper).Keeper, To: to, Fill: fillPlaceholders, StatusOf: statusOf,
		Fields: fields, Reveals: reveals, Withhold: c.AnswerFields(), MaxBody: h.MaxBody, Log: h.log,
		NewRequest: func(ctx context.Context, w http.ResponseWriter, up mapping.Upstream) *http.Request {
			return upstreamRequest(ctx, w, nil, up)
		},
	}), key, nil
}

// signInFields returns the header fields that the gateway sends with every request to an API, and so
// with those of a sign-in: an API may want a key before it gives a session. Fields with the client's
// name are left out, since no client asks.
func signInFields(fixed []resource.Fixed) (fields []supply.Param) {
	for _, p := range jobParams(fixed) {
		if p.In == supply.Header && !strings.Contains(p.Value, "{http.") {
			fields = append(fields, p)
		}
	}
	return fields
}

// sessionKey returns a digest of what a session depends on: configurations with the same key share it.
func sessionKey(c *login.Config, fields []supply.Param, from []byte) (string, error) {
	sum := sha256.New()
	declared, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprintf(sum, "%q %q", declared, from)
	for _, step := range c.Steps {
		sent, err := step.Fill(fillPlaceholders)
		_, _ = fmt.Fprintf(sum, " %q %t", sent, err == nil) // a corrected password is tried at once
	}
	for _, p := range fields {
		value, err := fillPlaceholders(p.Value)
		_, _ = fmt.Fprintf(sum, " %q %q %t", p.Name, value, err == nil)
	}
	return string(sum.Sum(nil)), nil
}

// fillPlaceholders fills in the placeholders of a text that belongs to no request.
func fillPlaceholders(written string) (string, error) {
	value, err := caddy.NewReplacer().ReplaceOrErr(written, true, true)
	if err != nil {
		return "", fmt.Errorf("%s: %w", written, err)
	}
	return value, nil
}
