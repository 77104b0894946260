package cli

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/typedpassword"
)

func userCommands() *cobra.Command {
	add := adminCommand("add USERNAME", "Adds a user", `
Adds a user to the store. The password is read from standard input, as one line; a terminal
asks for it twice and does not show it. With --generate, one is generated and shown once.

	$ caddy gatehouse user add alice --name Alice --generate`, exactly("USERNAME"), addUserCommand)
	f := add.Flags()
	f.String("name", "", "The user's name")
	f.String("nickname", "", "What the user is called")
	f.String("picture", "", "Address of a picture, https")
	f.String("email", "", "E-mail address")
	f.String("phone", "", "Telephone number")
	f.String("claims", "", "Further attributes as a JSON object")
	generateFlag(add)
	passwd := userCommand("passwd USER", "Sets a user's password", `
Reads the new password from standard input, as one line; a terminal asks for it twice and does
not show it. With --generate, one is generated and shown once. The user is signed out
everywhere, and every node rejects the user's tokens within a second. If failed sign-ins had
locked the user, this node (--address) no longer does.`, passwdCommand)
	generateFlag(passwd)
	return groupCommand("user", "Users of the authorization gateway", add, passwd, importCommand(),
		adminCommand("list", "Lists the users", "Lists the users in the store.", nothing, func(r *run) error {
			return listAt(r, adminapi.Path("users"), "There are no users in the store; `caddy gatehouse user add` adds one.",
				[]string{"ID", "USERNAME", "NAME", "EMAIL", "STATE"}, func(u adminapi.User) []string {
					return []string{u.ID, u.Username, u.Name, u.Email, state(u)}
				})
		}),
		userCommand("show USER", "Shows a user", "Shows what is known about a user, in whichever directory.", func(r *run) error {
			return r.userCall("GET", nil)
		}),
		userCommand("lock USER", "Locks a user", `
Locks a user, who is signed out everywhere and can no longer sign in. Every node rejects the
user's tokens within a second.`, func(r *run) error { return r.userCall("POST", nil, "lock") }),
		userCommand("unlock USER", "Unlocks a user", `
Lets a user sign in again who was locked by `+"`user lock`"+` or by failed sign-ins. Each node counts
failed sign-ins in its own memory, so a lock caused by them is removed on this node (--address)
only; on others it ends by itself (protect lockout).`, func(r *run) error {
			return r.userCall("POST", nil, "unlock")
		}),
		userCommand("delete USER", "Deletes a user", `
Deletes a user from the store and signs the user out everywhere. Every node rejects the user's
tokens within a second. The id is never used again.`, func(r *run) error {
			path, err := r.userPath(url.Values{})
			if err != nil {
				return err
			}
			return r.deleteAt(path, "Removed user "+r.args[0]+".")
		}),
	)
}

// userCommand is a command about one user.
func userCommand(use, short, long string, do func(*run) error) *cobra.Command {
	cmd := adminCommand(use, short, strings.TrimSpace(long)+"\n\n"+userNamed, exactly("USER"), do)
	byFlag(cmd)
	return cmd
}

func (r *run) userCall(method string, in any, below ...string) error {
	path, err := r.userPath(url.Values{}, below...)
	if err != nil {
		return err
	}
	return callAndPrint(r, method, path, in, userText)
}

func addUserCommand(r *run) error {
	in := map[string]any{"username": r.args[0]}
	for _, field := range []string{"name", "nickname", "picture", "email", "phone"} {
		if v := r.text(field); v != "" {
			in[field] = v
		}
	}
	if text := r.text("claims"); text != "" {
		var claims map[string]any
		if err := json.Unmarshal([]byte(text), &claims); err != nil {
			return errors.New("--claims: expected a JSON object")
		}
		in["claims"] = claims
	}
	if err := r.password(in); err != nil {
		return err
	}
	return callAndPrint(r, "POST", adminapi.Path("users"), in, userText)
}

func passwdCommand(r *run) error {
	in := map[string]any{}
	if err := r.password(in); err != nil {
		return err
	}
	return r.userCall("POST", in, "password")
}

func generateFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("generate", false, "Generate a password and show it once, instead of reading one")
}

// password puts the password into a request, or the wish for one. It is never an
// argument, which every process of the machine could read.
func (r *run) password(in map[string]any) error {
	if r.yes("generate") {
		in["generate_password"] = true
		return nil
	}
	password, err := typedpassword.Read(r.in, r.cmd.ErrOrStderr())
	in["password"] = password
	return err
}

func userText(w io.Writer, u adminapi.UserWithPassword) {
	rows(w, [][2]string{
		{"ID", u.ID}, {"Username", u.Username}, {"Name", u.Name}, {"Nickname", u.Nickname}, {"Email", u.Email}, {"Phone", u.Phone},
		{"Picture", u.Picture}, {"State", state(u.User)},
	})
	if len(u.Claims) > 0 {
		if claims, err := json.Marshal(u.Claims); err == nil {
			row(w, "Claims:", string(claims))
		}
	}
	if u.Password != "" {
		row(w, "Password:", u.Password)
		row(w, "", "It is shown only this once, and stored as a hash.")
	}
}

func state(u adminapi.User) string {
	if u.Locked {
		return "locked"
	}
	return "active"
}
