package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor"
)

func doctorCommand() *cobra.Command {
	return adminCommand("doctor", "Checks a running gateway and says what is wrong", `
Checks a running gateway: the store, its files, signing keys, the user directory, clients,
guards, what api_rest declares, the issuer as it is reached from here, and what of the
configuration would put codes into logs. Each line is ok, warn or fail, with what to do about it. The exit code is
1 when anything fails.`, nothing, func(r *run) error {
		all := diagnose(r.context(), r.admin)
		err := r.print(all, func(w io.Writer) {
			for _, f := range all {
				row(w, f.Grade, f.Check, f.Message)
				if f.Remedy != "" {
					row(w, "", "", "-> "+f.Remedy)
				}
			}
		})
		if err == nil && slices.ContainsFunc(all, func(f adminapi.Finding) bool { return f.Grade == adminapi.GradeFail }) {
			err = &adminclient.Error{Exit: adminclient.ExitRefused, Code: "unhealthy"}
		}
		return err
	})
}

// diagnose asks the gateway through its admin API, and checks its configuration and the issuer
// as it is reached from here.
func diagnose(ctx context.Context, admin *adminclient.Client) (out adminapi.Findings) {
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
		more, err = doctor.Configuration(config, found)
	}
	if err != nil {
		out.Fail("configuration", "the message says what is wrong", "%v", err)
	}
	return slices.Concat(out, more, doctor.Issuer(ctx, found.Issuer))
}
