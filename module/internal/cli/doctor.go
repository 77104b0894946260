package cli

import (
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor"
)

func doctorCommand() *cobra.Command {
	cmd := newCommand("doctor", "Checks a gateway or its configuration file and says what is wrong", `
Checks a running gateway: the store, its files, signing keys, the user directory, clients,
guards, what api_rest declares, the issuer as it is reached from here, and what of the
configuration would put codes into logs. With --config it checks that file, also before any gateway runs: whether it can be
loaded, its ports, store and users, secrets, scopes, and what is not guarded; then the gateway that runs with it, if one does.
Each line is ok, warn or fail, with the line of the file if it can be told, and what to do about it. The exit code is
1 when anything fails.

A running gateway is asked over Caddy's admin endpoint, by default at localhost:2019; --address names another one.`, nothing, func(r *run) error {
		all, err := r.diagnose()
		if err != nil {
			return err
		}
		err = r.print(all, func(w io.Writer) {
			for _, f := range all {
				if f.Where != "" {
					f.Message = f.Where + ": " + f.Message
				}
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
	adminFlags(cmd)
	return cmd
}

func (r *run) diagnose() (adminapi.Findings, error) {
	if file := r.text("config"); file != "" {
		if r.given("address") {
			return nil, errors.New("--config checks a file and the gateway at its admin endpoint, --address a running gateway; give one of them")
		}
		return doctor.WithFile(r.context(), file, r.text("adapter")), nil
	}
	admin, err := adminclient.New(r.text("address"), "", r.text("adapter"))
	if err != nil {
		return nil, err
	}
	return doctor.Running(r.context(), admin), nil
}
