package gateway

import "github.com/spf13/cobra"

func userCommands() *cobra.Command {
	return groupCommand("user", "Users of the authorization gateway")
}
