package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

func readyCommand() *cobra.Command {
	return adminCommand("ready", "Reports whether this node can serve", `
Prints the state of the store, the signing keys, the revocations and the limiters, and exits
with 1 if the node cannot serve. It suits HEALTHCHECK of a container.`, nothing, printReadiness)
}

func printReadiness(r *run) error {
	status, answer, err := r.admin.send(r.context(), http.MethodGet, adminapi.Path("ready"), nil)
	if err != nil {
		return r.admin.unreachable(http.MethodGet, err)
	}
	var got adminapi.Readiness
	if status != http.StatusOK && status != http.StatusServiceUnavailable || json.Unmarshal(answer, &got) != nil || got.State == "" {
		return r.admin.refused(status, answer)
	}
	err = r.print(got, func(w io.Writer) {
		row(w, "PART", "STATE", "MESSAGE")
		for _, p := range got.Parts {
			row(w, p.Part, p.State, p.Message)
		}
	})
	if err == nil && !got.Ready {
		err = &cliError{exit: exitRefused, code: "not_ready", message: fmt.Sprintf("the node at %s is not ready", r.admin.address)}
	}
	return err
}
