package cli

import (
	"errors"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

const userNamed = `USER is a user's id or, for users in the store, the user name. If one user's id is another's
user name, add --by id or --by username.`

func grantCommands() *cobra.Command {
	revoke := adminCommand("revoke USER [GRANT]", "Revokes what a user has granted", `
Revokes one grant of a user, by the id that grant list shows. With --client, revokes everything
the user has allowed that client, which then has to ask again. With --all, revokes all grants
and also signs the user out everywhere. Every node rejects the tokens within a second.

`+userNamed, cobra.ArbitraryArgs, revokeGrantCommand)
	revoke.Flags().String("client", "", "Revoke everything granted to this client")
	revoke.Flags().Bool("all", false, "Revoke everything, and end the user's sessions")
	byFlag(revoke)
	list := adminCommand("list USER", "Lists what a user has granted", userNamed, exactly("USER"), func(r *run) error {
		path, err := r.userPath(url.Values{}, "grants")
		if err != nil {
			return err
		}
		return listAt(r, path, "This user has no living grant.",
			[]string{"GRANT", "CLIENT", "SCOPES", "SINCE", "USED", "ENDS"}, func(g adminapi.Grant) []string {
				return []string{g.ID, g.Client, strings.Join(g.Scopes, ","), adminapi.Day(g.IssuedAt), adminapi.Day(g.UsedAt), adminapi.Day(g.ExpiresAt)}
			})
	})
	byFlag(list)
	return groupCommand("grant", "What users have granted to applications", list, revoke)
}

func revokeGrantCommand(r *run) error {
	ways := 0
	for _, given := range []bool{len(r.args) > 1, r.given("client"), r.yes("all")} {
		if given {
			ways++
		}
	}
	if len(r.args) == 0 || len(r.args) > 2 || r.args[0] == "" || ways != 1 {
		return errors.New("expected a USER, and one of: a GRANT, --client CLIENT, --all")
	}
	segments := []string{"grants"}
	query := url.Values{}
	switch {
	case len(r.args) == 2:
		if r.args[1] == "" {
			return errors.New("the GRANT is empty; `grant list` shows the ids")
		}
		segments = append(segments, r.args[1])
	case r.given("client"):
		if r.text("client") == "" {
			return errors.New("--client is empty; expected a client_id")
		}
		query.Set("client", r.text("client"))
	}
	path, err := r.userPath(query, segments...)
	if err != nil {
		return err
	}
	return r.deleteAt(path, "Revoked.")
}

func byFlag(cmd *cobra.Command) {
	cmd.Flags().String("by", "", "What USER is: id or username (default: whichever exists)")
}

// userPath is the path of the user that the first argument names, or of what is below it.
func (r *run) userPath(query url.Values, below ...string) (string, error) {
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
