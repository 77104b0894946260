package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

func userCommands() *cobra.Command {
	add := adminCommand("add USERNAME", "Adds a user", `
Adds a user to the store. The password is read from standard input, one line; on a terminal
it is asked for twice and not shown. With --generate one is made and shown once.

	$ caddy gatehouse user add alice --name Alice --generate`, exactly("USERNAME"), addUserCommand)
	f := add.Flags()
	f.String("name", "", "The user's name")
	f.String("nickname", "", "What the user is called")
	f.String("picture", "", "Address of a picture, https")
	f.String("email", "", "E-mail address")
	f.String("phone", "", "Telephone number")
	f.String("claims", "", "Further attributes as a JSON object")
	generateFlag(add)
	passwd := userCommand("passwd USER", "Gives a user another password", `
Reads the new password from standard input, one line; on a terminal it asks twice and shows
nothing. With --generate one is made and shown once. The user is signed out everywhere and
every token dies within a second. A lock by failed sign-ins is ended too, on the node that
is asked (--address).`, passwdCommand)
	generateFlag(passwd)
	return groupCommand("user", "Users of the authorization gateway", add, passwd,
		adminCommand("list", "Lists the users", "Lists the users kept in the store.", nothing, func(r *run, admin *adminClient) error {
			all, err := every[adminapi.User](r, admin, adminapi.Path("users"))
			if err != nil {
				return err
			}
			return r.print(all, func(w io.Writer) {
				if len(all) == 0 {
					row(w, "There are no users in the store; `caddy gatehouse user add` adds one.")
					return
				}
				row(w, "ID", "USERNAME", "NAME", "EMAIL", "STATE")
				for _, u := range all {
					row(w, u.ID, u.Username, u.Name, u.Email, state(u))
				}
			})
		}),
		userCommand("show USER", "Shows a user", "Shows what is known about a user, of every directory.", func(r *run, admin *adminClient) error {
			return r.userCall(admin, "GET", nil)
		}),
		userCommand("lock USER", "Locks a user", `
Locks a user, who can no longer sign in. The user is signed out everywhere and every token
dies within a second, on every node.`, func(r *run, admin *adminClient) error { return r.userCall(admin, "POST", nil, "lock") }),
		userCommand("unlock USER", "Unlocks a user", `
Lets a user sign in again who was locked with lock, on every node, or by failed sign-ins.
Each node counts failed sign-ins in its own memory, so a lock by them is ended on the node
that is asked (--address); on others it ends by itself (protect lockout).`, func(r *run, admin *adminClient) error {
			return r.userCall(admin, "POST", nil, "unlock")
		}),
		userCommand("delete USER", "Removes a user", `
Removes a user from the store. The user is signed out everywhere and every token dies within
a second, on every node. The id is never used again.`, func(r *run, admin *adminClient) error {
			path, err := r.userPath()
			if err != nil {
				return err
			}
			if err := admin.call(r.context(), "DELETE", path, nil, nil); err != nil {
				return err
			}
			return r.done("Removed user " + r.args[0] + ".")
		}),
	)
}

// userCommand is a command about one user.
func userCommand(use, short, long string, do func(*run, *adminClient) error) *cobra.Command {
	cmd := adminCommand(use, short, strings.TrimSpace(long)+"\n\n"+userNamed, exactly("USER"), do)
	byFlag(cmd)
	return cmd
}

func (r *run) userCall(admin *adminClient, method string, in any, below ...string) error {
	path, err := r.userPath(below...)
	if err != nil {
		return err
	}
	var got adminapi.UserWithPassword
	if err := admin.call(r.context(), method, path, in, &got); err != nil {
		return err
	}
	return r.print(got, func(w io.Writer) { userText(w, got) })
}

func addUserCommand(r *run, admin *adminClient) error {
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
	var got adminapi.UserWithPassword
	if err := admin.call(r.context(), "POST", adminapi.Path("users"), in, &got); err != nil {
		return err
	}
	return r.print(got, func(w io.Writer) { userText(w, got) })
}

func passwdCommand(r *run, admin *adminClient) error {
	in := map[string]any{}
	if err := r.password(in); err != nil {
		return err
	}
	return r.userCall(admin, "POST", in, "password")
}

func generateFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("generate", false, "Make a password and show it once, instead of reading one")
}

// password puts the password into a request, or the wish for one. It is never an
// argument, which every process of the machine could read.
func (r *run) password(in map[string]any) error {
	if r.yes("generate") {
		in["generate_password"] = true
		return nil
	}
	password, err := readPassword(r.in, r.cmd.ErrOrStderr())
	if err == nil {
		err = acceptable(password)
	}
	in["password"] = password
	return err
}

// acceptable refuses passwords that nobody could sign in with.
func acceptable(password string) error {
	switch {
	case password == "":
		return errors.New("expected a password on standard input, got nothing")
	case len(password) > directory.MaxPassword:
		return fmt.Errorf("the password has more than %d bytes", directory.MaxPassword)
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return errors.New("the password must be valid UTF-8 without a NUL character")
	}
	return nil
}

func userText(w io.Writer, u adminapi.UserWithPassword) {
	for _, line := range [][2]string{
		{"ID", u.ID}, {"Username", u.Username}, {"Name", u.Name}, {"Nickname", u.Nickname}, {"Email", u.Email}, {"Phone", u.Phone},
		{"Picture", u.Picture}, {"State", state(u.User)},
	} {
		if line[1] != "" {
			row(w, line[0]+":", line[1])
		}
	}
	if len(u.Claims) > 0 {
		if claims, err := json.Marshal(u.Claims); err == nil {
			row(w, "Claims:", string(claims))
		}
	}
	if u.Password != "" {
		row(w, "Password:", u.Password)
		row(w, "", "It is shown this once and stored as a hash.")
	}
}

func state(u adminapi.User) string {
	if u.Locked {
		return "locked"
	}
	return "active"
}
