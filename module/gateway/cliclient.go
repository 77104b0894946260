package gateway

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func clientCommands() *cobra.Command {
	return groupCommand("client", "Applications that may ask for tokens",
		adminCommand("list", "Lists the clients", `
Lists the clients of the configuration (source config) and those kept in the store.`, nothing, func(r *run, admin *adminClient) error {
			all, err := every[clientView](r, admin, adminPath("clients"))
			if err != nil {
				return err
			}
			return r.print(all, func(w io.Writer) {
				row(w, "ID", "SOURCE", "KIND", "GRANTS", "SCOPES", "NAME")
				for _, c := range all {
					row(w, c.ID, c.Source, c.kind(), strings.Join(c.Grants, ","), strings.Join(c.Scopes, ","), c.Name)
				}
			})
		}),
	)
}

func (c clientView) kind() string {
	if c.Public {
		return "public"
	}
	return "confidential"
}
