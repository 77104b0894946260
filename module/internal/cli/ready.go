package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
)

func readyCommand() *cobra.Command {
	return adminCommand("ready", "Reports whether this node can serve", `
Prints the state of the store, the signing keys, the revocations and the limiters. Exits with 1
if the node cannot serve, so it can be the HEALTHCHECK of a container.`, nothing, printReadiness)
}

func printReadiness(r *run) error {
	status, answer, err := r.admin.Send(r.context(), http.MethodGet, adminapi.Path("ready"), nil)
	if err != nil {
		return r.admin.Unreachable(http.MethodGet, err)
	}
	var got adminapi.Readiness
	if status != http.StatusOK && status != http.StatusServiceUnavailable || json.Unmarshal(answer, &got) != nil || got.State == "" {
		return r.admin.Refused(status, answer)
	}
	err = r.print(got, func(w io.Writer) {
		row(w, "PART", "STATE", "MESSAGE")
		for _, p := range got.Parts {
			row(w, p.Part, p.State, p.Message)
		}
	})
	if err == nil && !got.Ready {
		err = &adminclient.Error{Exit: adminclient.ExitRefused, Code: "not_ready", Message: fmt.Sprintf("the node at %s is not ready", r.admin.Address)}
	}
	return err
}
