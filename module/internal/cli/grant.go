package cli

import (
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

const userNamed = `USER is a user's id or, for users kept in the store, the user name; --by id or
--by username where one text is both.`

func grantCommands() *cobra.Command {
	revoke := adminCommand("revoke USER [GRANT]", "Takes back what a user has granted", `
Revokes one grant of a user, named by the id that grant list shows; or with --client all
that the user allowed one client, so that it has to ask again; or with --all everything:
then the user is signed out everywhere too. Tokens die within a second, on every node.

`+userNamed, cobra.ArbitraryArgs, revokeGrantCommand)
	revoke.Flags().String("client", "", "Revoke everything granted to this client")
	revoke.Flags().Bool("all", false, "Revoke everything, and end the user's sessions")
	byFlag(revoke)
	list := adminCommand("list USER", "Lists what a user has granted", userNamed, exactly("USER"), func(r *run, admin *adminClient) error {
		path, err := r.userPath("grants")
		if err != nil {
			return err
		}
		all, err := every[adminapi.Grant](r, admin, path)
		if err != nil {
			return err
		}
		return r.print(all, func(w io.Writer) {
			if len(all) == 0 {
				row(w, "This user has no living grant.")
				return
			}
			row(w, "GRANT", "CLIENT", "SCOPES", "SINCE", "USED", "ENDS")
			for _, g := range all {
				row(w, g.ID, g.Client, strings.Join(g.Scopes, ","), adminapi.Day(g.IssuedAt), adminapi.Day(g.UsedAt), adminapi.Day(g.ExpiresAt))
			}
		})
	})
	byFlag(list)
	return groupCommand("grant", "What users have granted to applications", list, revoke)
}

func revokeGrantCommand(r *run, admin *adminClient) error {
	ways := 0
	for _, given := range []bool{len(r.args) > 1, r.given("client"), r.yes("all")} {
		if given {
			ways++
		}
	}
	if len(r.args) == 0 || len(r.args) > 2 || r.args[0] == "" || ways != 1 {
		return errors.New("expected a USER, and one of: a GRANT, --client CLIENT, --all")
	}
	var segments []string
	query := url.Values{}
	switch {
	case len(r.args) == 2:
		if r.args[1] == "" {
			return errors.New("the GRANT is empty; `grant list` shows the ids")
		}
		segments = []string{"grants", r.args[1]}
	case r.given("client"):
		if r.text("client") == "" {
			return errors.New("--client is empty; expected a client_id")
		}
		segments, query = []string{"grants"}, url.Values{"client": {r.text("client")}}
	default:
		segments = []string{"grants"}
	}
	path, err := r.userPathWith(query, segments...)
	if err != nil {
		return err
	}
	if err := admin.call(r.context(), "DELETE", path, nil, nil); err != nil {
		return err
	}
	return r.done("Revoked.")
}

func byFlag(cmd *cobra.Command) {
	cmd.Flags().String("by", "", "What USER is: id or username (default: whichever there is)")
}

// userPath is the path of the user that the first argument names.
func (r *run) userPath(below ...string) (string, error) {
	return r.userPathWith(url.Values{}, below...)
}

func (r *run) userPathWith(query url.Values, below ...string) (string, error) {
	switch by := r.text("by"); by {
	case "":
	case "id", "username":
		query.Set("by", by)
	default:
		return "", errors.New("--by: expected id or username")
	}
	path := adminapi.Path(append([]string{"users", r.args[0]}, below...)...)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, nil
}

// done says that something was done: a sentence, or an empty object.
func (r *run) done(sentence string) error {
	return r.print(struct{}{}, func(w io.Writer) { row(w, sentence) })
}
