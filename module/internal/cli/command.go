package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	hash "github.com/gatehouse/gatehouse/module/directory/password"
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
				Long: `Reads one line, the password, from standard input and prints its argon2id hash alone,
for the password_hash of a users file. On a terminal it asks twice and shows nothing.

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
			cmd.AddCommand(user, clientCommands(), grantCommands(), keysCommands(), tokenCommands(), explainCommand(), doctorCommand(), restCommands(), readyCommand(), compactCommand(), backupCommand(), restoreCommand(), moveCommand())
			withoutOthers(cmd)
		},
	})
}

func hashPassword(in *os.File, out, prompt io.Writer) error {
	password, err := readPassword(in, prompt)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, hash.Hash(norm.NFC.String(password)))
	return err
}

// readPassword reads a password with which somebody could sign in.
func readPassword(in *os.File, prompt io.Writer) (string, error) {
	password, err := readLine(in, prompt)
	switch {
	case err != nil:
		return "", err
	case password == "":
		return "", errors.New("expected a password on standard input, got nothing")
	case len(password) > directory.MaxPassword:
		return "", fmt.Errorf("the password has more than %d bytes", directory.MaxPassword)
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return "", errors.New("the password must be valid UTF-8 without a NUL character")
	}
	return password, nil
}

// readLine reads one line, or asks for it twice on a terminal, without showing it.
func readLine(in *os.File, prompt io.Writer) (string, error) {
	if !term.IsTerminal(int(in.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(in, directory.MaxPassword+3)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2]string
	for i, label := range []string{"Password: ", "Again: "} {
		fmt.Fprint(prompt, label)
		b, err := term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(prompt)
		if err != nil {
			return "", err
		}
		typed[i] = string(b)
	}
	if typed[0] != typed[1] {
		return "", errors.New("the two passwords differ")
	}
	return typed[0], nil
}
