package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// Running asks a gateway through its admin API, and checks its configuration and the issuer as it is reached from
// here.
func Running(ctx context.Context, admin *adminclient.Client) (out adminapi.Findings) {
	var found adminapi.Examination
	err := admin.Call(ctx, "GET", adminapi.Path("doctor"), nil, &found)
	e := new(adminclient.Error)
	errors.As(err, &e)
	if err != nil && e.Code != "not_configured" {
		remedy := "name the address with --address as the global option `admin` has it"
		if e.Exit == adminclient.ExitUnreachable {
			remedy = "see that the gateway runs and that its configuration does not say `admin off`"
		}
		out.Fail("admin", remedy, "%v", err)
		return out
	}
	out.OK("admin", "Caddy's admin endpoint at %s answers", admin.Address)
	if err != nil {
		out.Fail("app", "load a configuration with that option", "%s", e.Message)
		return out
	}
	out = append(out, found.Findings...)
	config, err := admin.Configuration(ctx)
	var more adminapi.Findings
	if err == nil {
		more, err = Configuration(config, found)
	}
	if err != nil {
		out.Fail("configuration", "the message says what is wrong", "%v", err)
	}
	return slices.Concat(out, more, checkIssuer(ctx, found.Issuer))
}

// WithFile checks a configuration file, and the gateway that runs with it, if one does.
func WithFile(ctx context.Context, name, adapter string) (out adminapi.Findings) {
	f := File{Name: filepath.Base(name)}
	var err error
	if f.Source, err = os.ReadFile(name); err == nil {
		f.json, _, _, err = caddycmd.LoadConfig(name, adapter)
	}
	if err != nil {
		remedy := "correct what the message names; `caddy validate` reads the file in the same way"
		if base := strings.ToLower(f.Name); adapter == "" && !strings.HasPrefix(base, "caddyfile") && !strings.HasSuffix(base, ".caddyfile") && filepath.Ext(base) != ".json" {
			remedy = "if it is a Caddyfile, add `--adapter caddyfile`, which `caddy run` and `caddy reload` need for this name, too; otherwise correct what the message names"
		}
		out.Fail("configuration", remedy, "%v", err)
		return out
	}
	if info, err := os.Stat(name); err == nil {
		f.changed = info.ModTime()
	}
	var running adminapi.Findings
	if admin, err := adminclient.New("", name, adapter); err == nil {
		running = f.examineRunning(ctx, admin)
	}
	out = f.check(ctx)
	for _, one := range running {
		if !slices.ContainsFunc(out, func(o adminapi.Finding) bool {
			return o.Check == one.Check && o.Grade == one.Grade && o.Message == one.Message
		}) {
			if f.running != nil {
				one.Message = "the running gateway: " + one.Message
			}
			out = append(out, one)
		}
	}
	return out
}

// examineRunning checks the gateway at the admin endpoint of the file, if it is the one that the file is for.
func (f *File) examineRunning(ctx context.Context, admin *adminclient.Client) (out adminapi.Findings) {
	var running, own *explain.Configuration
	config, err := admin.Configuration(ctx)
	if err == nil {
		running, err = explain.ReadAny(config)
	}
	if err == nil {
		own, err = explain.ReadAny(f.json)
	}
	if err == nil && running.App != nil && !sameGateway(own, running) {
		out.Warn("admin", "give this file another `admin` address if both are to run: `caddy reload` replaces the configuration of the other one",
			"another gateway, %s, runs at %s: only the file is checked", running.App.Issuer, admin.Address)
		return out
	}
	if err == nil {
		out = Running(ctx, admin)
	}
	if err != nil || out[0].Grade != adminapi.GradeOK {
		out = nil
		out.OK("admin", "no gateway answers at %s: only the file is checked", admin.Address)
		return out
	}
	f.running = running
	return out
}

// sameGateway reports whether two configurations can be of one gateway: they have its issuer or a listener in common.
func sameGateway(a, b *explain.Configuration) bool {
	if a.App != nil && b.App != nil && a.App.Issuer == b.App.Issuer {
		return true
	}
	for _, s := range a.Servers {
		for _, other := range b.Servers {
			if slices.ContainsFunc(s.Listen, func(l string) bool { return slices.Contains(other.Listen, l) }) {
				return true
			}
		}
	}
	return false
}
