package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// maxInspected is the longest token that is read from standard input, in bytes.
const maxInspected = 16 << 10

func tokenCommands() *cobra.Command {
	return groupCommand("token", "Access tokens",
		adminCommand("inspect", "Shows what an access token contains and what each guard decides", `
Reads one access token from standard input, where neither other processes nor the shell's
history see it. Shows what the token contains, whether this gateway issued it, whether it is
valid or which check fails, and what each guard of the running configuration would decide. The
token is not logged.

	$ caddy gatehouse token inspect < token.txt`, stdinOnly, inspectCommand))
}

// stdinOnly refuses arguments without repeating them: they may be a token.
func stdinOnly(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return errors.New("the token is read from standard input, never from arguments, where other processes can see it: caddy gatehouse token inspect < token.txt")
	}
	return nil
}

// inspection is what the command prints.
type inspection struct {
	adminapi.TokenInspection
	Guards []explain.GuardVerdict `json:"guards"`
}

func inspectCommand(r *run) error {
	raw, err := readToken(r.in, r.cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	out := inspection{Guards: []explain.GuardVerdict{}}
	if err := r.call("POST", adminapi.Path("tokens", "inspect"), map[string]string{"token": raw}, &out.TokenInspection); err != nil {
		return err
	}
	text, err := r.admin.Configuration(r.context())
	if err != nil {
		return err
	}
	config, err := explain.ReadConfiguration(text)
	if err != nil {
		return err
	}
	if out.Guards, err = explain.JudgeToken(config, out.TokenInspection); err != nil {
		return err
	}
	return r.print(out, out.text)
}

// readToken reads one token, with or without the word Bearer in front. A terminal shows nothing.
func readToken(in *os.File, prompt io.Writer) (string, error) {
	var text []byte
	var err error
	if term.IsTerminal(int(in.Fd())) {
		fmt.Fprint(prompt, "Access token: ")
		text, err = term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(prompt)
	} else {
		text, err = io.ReadAll(io.LimitReader(in, maxInspected+1))
	}
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(text))
	if len(words) == 2 && strings.EqualFold(words[0], "Bearer") {
		words = words[1:]
	}
	switch {
	case len(text) > maxInspected:
		return "", fmt.Errorf("standard input has more than %d bytes; expected one access token", maxInspected)
	case len(words) != 1:
		return "", fmt.Errorf("expected one access token on standard input, got %d words", len(words))
	}
	return words[0], nil
}

func (i inspection) text(w io.Writer) {
	if t := i.Token; t != nil {
		if !i.Genuine {
			row(w, "Note:", "this gateway did not sign it, or not with a key that is still valid: what follows may be invented")
		}
		for _, line := range [][2]string{
			{"Token", t.ID}, {"Client", t.Client}, {"Subject", t.Subject}, {"Issuer", t.Issuer},
			{"Audience", strings.Join(t.Audience, " ")}, {"Scopes", strings.Join(t.Scopes, " ")}, {"Key", t.KeyID + " " + t.Alg + " " + t.Type},
			{"Issued", relative(t.IssuedAt, i.Now)}, {"Expires", relative(t.Expires, i.Now)},
		} {
			row(w, line[0]+":", line[1])
		}
	}
	row(w, "Decision:", decisionText(i.Refusal, "alive"))
	for _, g := range i.Guards {
		fmt.Fprintln(w)
		row(w, "Guard:", g.Site)
		row(w, "Audience:", g.Audience)
		decision := decisionText(g.Refusal, "accepts the token")
		if g.Shadow && g.Refusal != "" {
			decision += "; but it is in shadow mode and lets the request pass"
		}
		row(w, "Decision:", decision)
		for n, rule := range g.Rules {
			passes := "passes"
			switch {
			case !rule.Passes && g.Refusal != "":
				passes = "401"
			case !rule.Passes:
				passes = "403, the token lacks a scope"
			}
			row(w, "Rule "+strconv.Itoa(n+1)+":", passes+": "+rule.Words)
		}
		if g.Otherwise == "token" {
			row(w, "Otherwise:", "any token that is accepted passes")
		} else {
			row(w, "Otherwise:", "403")
		}
	}
	if len(i.Guards) == 0 {
		row(w, "Guard:", "none in this configuration")
	}
}

func decisionText(refusal, otherwise string) string {
	if refusal == "" {
		return otherwise
	}
	return "refused, " + refusal + ": " + refusalTexts[token.Refusal(refusal)]
}

// refusalTexts say in words which check failed.
var refusalTexts = map[token.Refusal]string{
	token.Malformed:     "it is not a JWT as this gateway makes them; opaque tokens and tokens of other servers end here",
	token.WrongType:     "it is a JWT but not an access token; an id_token is not one",
	token.UnknownKey:    "its key is not in the key ring: another gateway signed it, or the key was retired or revoked (caddy gatehouse keys list)",
	token.BadSignature:  "the signature does not fit: the token was changed or cut, or it is forged",
	token.BadClaims:     "a claim is missing, malformed or too long",
	token.Expired:       "its time is up; there is no tolerance for exp",
	token.NotYetValid:   "iat or nbf is more than 60 seconds ahead: compare the clocks of the nodes",
	token.Revoked:       "it was revoked, or its grant, its client or its user ended",
	token.ClientGone:    "its client is in neither configuration nor store any more",
	token.UserGone:      "its user was locked or deleted",
	token.WrongIssuer:   "it is from another issuer with the same keys; see `issuer` of the gateway that made it, and of this one",
	token.WrongAudience: "its audience does not contain the one of the guard; see `audience` of the client, and `resource` of the request for it",
	token.OtherRefusal:  "no reason is known",
}

func relative(at, now time.Time) string {
	if at.IsZero() {
		return "not said"
	}
	text := at.UTC().Format(time.RFC3339)
	switch d := at.Sub(now).Round(time.Second); {
	case d == 0:
		return text + ", now"
	case d > 0:
		return text + ", in " + d.String()
	}
	return text + ", " + now.Sub(at).Round(time.Second).String() + " ago"
}
