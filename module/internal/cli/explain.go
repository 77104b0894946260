package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

func explainCommand() *cobra.Command {
	cmd := newCommand("explain METHOD URL", "Shows which rule of a guard applies, and why", `
Shows what the guards of a configuration would do with a request: which rule applies, what a
token must have, in which form the path is compared, and what is refused before any rule is
considered. The guard itself decides, but no request is sent.

URL is a client's URL, such as https://api.example.com/articles, or just a path, which is shown
for every site with a guard. With --scope, the request has a valid token with these scopes
(--scope "" for one without scopes); otherwise it has no token.

The configuration is the one given by --config, otherwise that of the running gateway, read from
Caddy's admin endpoint at --address.

	$ caddy gatehouse explain GET https://api.example.com/articles/7 --scope articles:read --config Caddyfile`,
		exactly("METHOD", "URL"), func(r *run) error {
			var scopes []string
			if r.given("scope") {
				scopes = append([]string{}, r.words("scope")...)
			}
			q, err := explain.NewQuestion(r.args[0], r.args[1], scopes)
			if err != nil {
				return err
			}
			config, err := r.anyConfiguration()
			if err == nil && config.App == nil {
				err = explain.ErrNoApp
			}
			if err != nil {
				return err
			}
			found, err := explain.Request(config, q)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return &adminclient.Error{Exit: adminclient.ExitNotFound, Code: "not_found", Message: explain.NoSite(q, config)}
			}
			return r.print(found, func(w io.Writer) {
				for i := range found {
					if i > 0 {
						fmt.Fprintln(w)
					}
					explanationText(w, found[i])
				}
			})
		})
	cmd.Flags().StringSlice("scope", nil, "Scopes of the assumed token, separated by commas")
	cmd.Flags().String("address", "", "Address of the administration API listener of the gateway to explain")
	cmd.Flags().StringP("config", "c", "", "Configuration file to explain instead of a running gateway")
	cmd.Flags().StringP("adapter", "a", "", "Name of config adapter to apply (if --config is used)")
	return cmd
}

// anyConfiguration reads the configuration of a file or of the running gateway. It may have no app gatehouse.
func (r *run) anyConfiguration() (*explain.Configuration, error) {
	if file := r.text("config"); file != "" {
		if r.given("address") {
			return nil, errors.New("--config explains a file and --address a running gateway; give one of them")
		}
		text, _, _, err := caddycmd.LoadConfig(file, r.text("adapter"))
		if err != nil {
			return nil, err
		}
		return explain.ReadAny(text)
	}
	admin, err := adminclient.New(r.text("address"), "", r.text("adapter"))
	if err != nil {
		return nil, err
	}
	text, err := admin.Configuration(r.context())
	if err != nil {
		return nil, err
	}
	return explain.ReadAny(text)
}

// explanationText writes an explanation as text.
func explanationText(w io.Writer, e explain.Explanation) {
	row(w, "Site:", explain.SiteText(e.Address, e.Listen))
	if e.Refused != "" {
		row(w, "Refused:", e.Refused)
	}
	for _, v := range e.Guards {
		verdictText(w, v)
	}
	for _, l := range e.Limits {
		limitsText(w, l)
	}
	switch {
	case e.Refused != "":
	case len(e.Guards) == 0 && e.Then == "":
		row(w, "Guard:", "none on the way, and no handler answers: an empty 200")
	case e.Then == "oauth_guard":
		row(w, "Then:", "oauth_guard itself")
	case e.Then == "gatehouse_health":
		row(w, "Then:", "gatehouse_health: whether this node can serve, for whoever asks")
	case e.Then == "oauth_server":
		row(w, "Then:", "oauth_server, whose own path this is")
	case len(e.Guards) == 0:
		row(w, "Guard:", "none on the way: "+e.Then+" answers whoever asks")
	case e.Then != "":
		row(w, "Then:", e.Then)
	case !slices.ContainsFunc(e.Guards, func(v explain.Verdict) bool { return !v.Allowed && !v.Shadow }):
		row(w, "Then:", "no handler answers it")
	}
	for _, n := range e.Notes {
		row(w, "Note:", n)
	}
}

func verdictText(w io.Writer, v explain.Verdict) {
	row(w, "Path:", v.Path)
	switch {
	case v.Rule > 0:
		row(w, "Rule:", fmt.Sprintf("%d: %s", v.Rule, v.Words))
	case v.Reason != string(guard.BadRequest):
		row(w, "Rule:", "none matches: "+v.Words)
	}
	decision := "passes"
	switch {
	case !v.Allowed && v.Status == 204:
		decision = "the guard answers the preflight itself"
	case !v.Allowed:
		decision = fmt.Sprintf("%d %s: %s", v.Status, v.Code, v.Message)
	case v.Reason == "public":
		decision = "passes without a token"
	case v.Reason == "preflight":
		decision = "passes without a token, as a CORS preflight"
	}
	if v.Shadow && !v.Allowed {
		decision = "passes, since the guard is in shadow mode; otherwise " + decision
	}
	row(w, "Decision:", decision)
	if v.Needs != nil {
		scopes := "any scopes"
		switch len(v.Needs.Scopes) {
		case 0:
		case 1:
			scopes = "the scope " + v.Needs.Scopes[0]
		default:
			scopes = "the scopes " + strings.Join(v.Needs.Scopes, " ")
		}
		row(w, "Token needs:", scopes+", audience "+v.Needs.Audience+", issuer "+v.Needs.Issuer)
	}
}

func limitsText(w io.Writer, l explain.Limits) {
	where := "counted by " + l.Kept
	if l.OnOutage != "" {
		where += ", on_outage " + l.OnOutage
	}
	row(w, "Limit:", strings.Join(l.Policies, ", ")+" ("+where+")")
}
