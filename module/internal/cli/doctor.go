package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor"
)

func doctorCommand() *cobra.Command {
	return adminCommand("doctor", "Checks a running gateway and says what is wrong", `
Checks a running gateway: the store, its files, signing keys, the user directory, clients,
guards, what api_rest declares, the issuer as it is reached from here, and what of the
configuration would put codes into logs. Each line is ok, warn or fail, with what to do about it. The exit code is
1 when anything fails.`, nothing, func(r *run, admin *adminClient) error {
		all := diagnose(r.context(), admin)
		if err := r.print(all, func(w io.Writer) {
			for _, f := range all {
				row(w, f.Grade, f.Check, f.Message)
				if f.Remedy != "" {
					row(w, "", "", "-> "+f.Remedy)
				}
			}
		}); err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(f adminapi.Finding) bool { return f.Grade == adminapi.GradeFail }) {
			return &cliError{exit: exitRefused, code: "unhealthy"}
		}
		return nil
	})
}

// diagnose asks the gateway through its admin API, and checks its configuration and the issuer
// as it is reached from here.
func diagnose(ctx context.Context, admin *adminClient) []adminapi.Finding {
	var all []adminapi.Finding
	var found adminapi.Examination
	err := admin.call(ctx, "GET", adminapi.Path("doctor"), nil, &found)
	var e *cliError
	switch {
	case err == nil:
		all = append(all, adminapi.Fine("admin", "Caddy's admin endpoint at %s answers", admin.address))
		all = append(all, found.Findings...)
	case errors.As(err, &e) && e.code == "not_configured":
		return append(all, adminapi.Fine("admin", "Caddy's admin endpoint at %s answers", admin.address),
			adminapi.Broken("app", "load a configuration with that option", "%s", e.message))
	default:
		remedy := "name the address with --address as the global option `admin` has it"
		if errors.As(err, &e) && e.exit == exitUnreachable {
			remedy = "see that the gateway runs and that its configuration does not say `admin off`"
		}
		return append(all, adminapi.Broken("admin", remedy, "%v", err))
	}
	config, err := admin.configuration(ctx)
	var more []adminapi.Finding
	if err == nil {
		more, err = doctor.Configuration(config, found)
	}
	if err != nil {
		all = append(all, adminapi.Broken("configuration", "the message says what is wrong", "%v", err))
	}
	return append(append(all, more...), doctor.Issuer(ctx, found.Issuer)...)
}
