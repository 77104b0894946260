package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// File is a configuration that is checked without a gateway.
type File struct {
	Name    string
	Source  []byte // as it was written
	json    []byte // what the adapter made of it
	changed time.Time
	running *explain.Configuration // of the gateway at its admin endpoint, nil if there is none or another one
}

// file is a File while it is checked.
type file struct {
	configuration
	File
	places      places
	substituted bool // variables of the environment are missing here
}

// check loads the configuration as `caddy validate` does, and looks for what works and should be different.
func (f File) check(ctx context.Context) adminapi.Findings {
	const check = "configuration"
	c := &file{File: f, places: findPlaces(f.Source, f.Name)}
	var out adminapi.Findings
	restore := c.substituteEnvironment(&out)
	defer restore()
	app, err := explain.ReadConfiguration(f.json)
	if err != nil {
		out.Fail(check, "write the global option `gatehouse { issuer ... }`", "%v", err)
		return c.placed(out)
	}
	c.Configuration = *app
	c.issuer, err = gateway.ParseIssuer(app.App.Issuer, caddy.NewReplacer())
	if err == nil {
		err = provision(f.json)
	}
	if err != nil {
		out.Fail(check, "correct what the message names; the gateway does not start, or keeps the configuration before", "%v", err)
	} else {
		out.OK(check, "%s can be loaded", f.Name)
	}
	if c.issuer == nil {
		return c.placed(out)
	}
	c.variantB = slices.ContainsFunc(c.App.Clients, func(one gateway.Client) bool { return one.VariantB })
	out = slices.Concat(out, c.checkAll(time.Now()), c.issuerSite(), c.plaintextGuards(), c.unguardedProxies(), c.ruleScopes(),
		c.clients(), c.weakSecrets(), c.adminEndpoint(), c.clock(time.Now()), c.ports())
	return c.placed(append(out, c.tryPlugins(ctx)...))
}

// provision loads a configuration like `caddy validate` and starts nothing. What it would log is in its error, or a finding.
func provision(config []byte) error {
	var c caddy.Config
	if err := json.Unmarshal(config, &c); err != nil {
		return err
	}
	c.Logging = &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: caddy.BaseLog{WriterRaw: json.RawMessage(`{"output":"discard"}`)}}}}
	return caddy.Validate(&c)
}

// tryPlugins opens the store and the directory of users.
func (f *file) tryPlugins(parent context.Context) (out adminapi.Findings) {
	for _, part := range []struct {
		check, remedy string
		raw           json.RawMessage
		try           func(caddy.Context, *gateway.App) error
	}{
		{"store", "correct the address and the password in the global option `store`, and see that its server runs and can be reached from here", f.App.StoreRaw, gateway.TryStore},
		{"users", "correct what the message names; the global option `users` says where users are", f.App.UsersRaw, gateway.TryUsers},
	} {
		if f.substituted && strings.Contains(string(part.raw), "{env.") {
			continue // it would be asked with a value that nobody chose
		}
		fresh, err := explain.ReadConfiguration(f.json) // loading a module empties its field
		if err != nil {
			continue
		}
		ctx, cancel := caddy.NewContext(caddy.Context{Context: parent})
		err = part.try(ctx, fresh.App)
		cancel()
		if errors.Is(err, secret.ErrForged) {
			out, err = append(out, f.otherSecret()...), nil
		}
		kind := explain.ModuleName(part.raw, cmp.Or(map[string]string{"store": "bolt", "users": "store"}[part.check]))
		if err != nil {
			out.Fail(part.check, part.remedy, "%s %s: %v", part.check, kind, err)
		} else {
			out.OK(part.check, "%s %s can be used", part.check, kind)
		}
	}
	return out
}

// otherSecret is the finding that the configured secrets cannot open the signing keys in the store.
func (f *file) otherSecret() (out adminapi.Findings) {
	if f.substituted && strings.Contains(strings.Join(f.App.Secrets, " "), "{env.") {
		return nil // some secret is one that nobody chose
	}
	out.Fail("keys", "put the secret that they were encrypted with behind the new one, until they are replaced",
		"`secret` cannot open the signing keys in the store: a gateway with this file issues no tokens")
	at(out, f.places.containing(f.App.Secrets[0]))
	return out
}
