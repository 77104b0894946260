package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
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
		out.Fail("configuration", "correct what the message names; `caddy adapt` reads the file in the same way", "%v", err)
		return out
	}
	if info, err := os.Stat(name); err == nil {
		f.changed = info.ModTime()
	}
	var running adminapi.Findings
	if admin, err := adminclient.New("", name, adapter); err == nil {
		running = Running(ctx, admin)
		if f.running = running[0].Grade == adminapi.GradeOK; !f.running {
			running = nil
			running.OK("admin", "no gateway answers at %s: only the file is checked", admin.Address)
		}
	}
	out = f.check(ctx)
	for _, one := range running {
		if !slices.ContainsFunc(out, func(o adminapi.Finding) bool {
			return o.Check == one.Check && o.Grade == one.Grade && o.Message == one.Message
		}) {
			out = append(out, one)
		}
	}
	return out
}
