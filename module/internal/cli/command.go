package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"golang.org/x/text/unicode/norm"

	hash "github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/module/internal/cli/typedpassword"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "gatehouse",
		Usage: "<command>",
		Short: "Commands of the authorization gateway",
		CobraFunc: func(cmd *cobra.Command) {
			user := userCommands()
			user.AddCommand(&cobra.Command{
				Use:   "hash",
				Short: "Reads a password from standard input and prints its hash",
				Long: `Reads a password, one line, from standard input and prints its argon2id hash and nothing else,
for the password_hash of a users file. A terminal asks for it twice and does not show it.

	$ caddy gatehouse user hash < password.txt
	$argon2id$v=19$m=47104,t=1,p=1$...`,
				Args: cobra.NoArgs,
				RunE: caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) {
					if err := hashPassword(os.Stdin, os.Stdout, os.Stderr); err != nil {
						return caddy.ExitCodeFailedStartup, err
					}
					return caddy.ExitCodeSuccess, nil
				}),
			})
			cmd.AddCommand(user, clientCommands(), grantCommands(), keysCommands(), tokenCommands(), explainCommand(), doctorCommand(), restCommands(), readyCommand(), compactCommand(), backupCommand(), restoreCommand(), moveCommand(), watchCommand())
			withoutOthers(cmd)
		},
	})
}

func hashPassword(in *os.File, out, prompt io.Writer) error {
	password, err := typedpassword.Read(in, prompt)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, hash.Hash(norm.NFC.String(password)))
	return err
}
