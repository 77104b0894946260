package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gatehouse/gatehouse/caddyfile/spelling"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
	"github.com/gatehouse/gatehouse/module/internal/cli/livewatch"
)

// run is one execution of a command.
type run struct {
	cmd  *cobra.Command
	args []string
	json bool
	in   *os.File

	admin *adminclient.Client // of an [adminCommand]
}

// newCommand makes a command that prints its result to standard output, in the form that --format
// names, and its error to standard error.
func newCommand(use, short, long string, args cobra.PositionalArgs, do func(*run) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: short + ".\n\n" + strings.TrimSpace(long), Args: cobra.ArbitraryArgs}
	cmd.Flags().String("format", "text", "How to print: text, or json")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if strings.HasPrefix(err.Error(), "unknown ") { // ids begin with any character
			err = fmt.Errorf("%w%s%s", err, suggestFlag(cmd, err.Error()), afterDashes)
		}
		return err
	})
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		r := &run{cmd: cmd, args: words, in: os.Stdin}
		switch f := r.text("format"); f {
		case "text":
		case "json":
			r.json = true
		default:
			return fmt.Errorf("--format %s: expected text or json", f)
		}
		if err := args(cmd, words); err != nil {
			return r.end(err) // not before, so that it is printed in the form asked for
		}
		return r.end(do(r))
	}
	return cmd
}

// groupCommand holds commands. A word that is none of them is an error, not a reason to
// print help and report success.
func groupCommand(name, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: name + " <command>", Short: short}
	group.AddCommand(commands...)
	return withoutOthers(group)
}

func withoutOthers(group *cobra.Command) *cobra.Command {
	group.Args = cobra.ArbitraryArgs
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var names []string
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		return fmt.Errorf("%s %s is no command%s; expected one of: %s", cmd.CommandPath(), printable(args[0]), spelling.Suggest(args[0], names), strings.Join(names, ", "))
	}
	// Caddy's templates add a link to the documentation of its own commands, cobra's a usage line
	// for a group that is called without a command.
	usage := new(cobra.Command).UsageTemplate()
	group.SetUsageTemplate(strings.Replace(usage, "{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
	group.SetHelpTemplate("{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}\n\n{{end}}{{.UsageString}}")
	return group
}

// suggestFlag reads cobra's complaint about a flag that there is not.
func suggestFlag(cmd *cobra.Command, complaint string) string {
	_, name, _ := strings.Cut(complaint, "--")
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return strings.Replace(spelling.Suggest(name, names), "mean ", "mean --", 1)
}

// adminCommand is a command that asks a running gateway.
func adminCommand(use, short, long string, args cobra.PositionalArgs, do func(*run) error) *cobra.Command {
	cmd := newCommand(use, short, strings.TrimSpace(long)+`

It asks the running gateway over Caddy's admin endpoint, by default at `+caddy.DefaultAdminListen+`;
--address names another one, --config a configuration that has it. Exit codes: 0 done,
1 refused or wrong usage, 4 there is no such thing, 5 no gateway answers.`, args, func(r *run) (err error) {
		if r.admin, err = adminclient.New(r.text("address"), r.text("config"), r.text("adapter")); err != nil {
			return err
		}
		return do(r)
	})
	adminFlags(cmd)
	return cmd
}

// adminFlags say where the admin endpoint is.
func adminFlags(cmd *cobra.Command) {
	cmd.Flags().String("address", "", "Address of the administration API listener (if --config is not used)")
	cmd.Flags().StringP("config", "c", "", "Configuration file (if --address is not used)")
	cmd.Flags().StringP("adapter", "a", "", "Name of config adapter to apply (if --config is used)")
}

func (r *run) context() context.Context {
	if ctx := r.cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// text is a flag's value. All flags are declared where the command is made.
func (r *run) text(flag string) string {
	v, _ := r.cmd.Flags().GetString(flag)
	return v
}

func (r *run) texts(flag string) []string {
	v, _ := r.cmd.Flags().GetStringArray(flag)
	return v
}

// words are the values of a flag that may be repeated or hold several, with commas.
func (r *run) words(flag string) []string {
	v, _ := r.cmd.Flags().GetStringSlice(flag)
	return v
}

func (r *run) yes(flag string) bool {
	v, _ := r.cmd.Flags().GetBool(flag)
	return v
}

func (r *run) given(flag string) bool { return r.cmd.Flags().Changed(flag) }

// end prints an error and gives the exit code to Caddy, which has a type of its own
// for every code but 1.
func (r *run) end(err error) error {
	if err == nil {
		return nil
	}
	e := &adminclient.Error{Exit: adminclient.ExitRefused, Code: "refused", Message: err.Error()}
	errors.As(err, &e)
	r.cmd.SilenceErrors = true
	if r.json {
		r.encode(r.cmd.ErrOrStderr(), map[string]any{"error": map[string]string{"code": e.Code, "message": e.Message, "field": e.Field}})
	} else if e.Message != "" {
		fmt.Fprintln(r.cmd.ErrOrStderr(), "Error:", printable(e.Message))
	}
	if e.Exit == adminclient.ExitRefused {
		return err
	}
	return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return e.Exit, nil })(r.cmd, nil)
}

// call sends a request to the admin API.
func (r *run) call(method, path string, in, out any) error {
	return r.admin.Call(r.context(), method, path, in, out)
}

// callAndPrint sends a request to the admin API and prints the response.
func callAndPrint[T any](r *run, method, path string, in any, text func(io.Writer, T)) error {
	var got T
	if err := r.call(method, path, in, &got); err != nil {
		return err
	}
	return r.print(got, func(w io.Writer) { text(w, got) })
}

// deleteAt sends a DELETE to the admin API and prints a sentence, or an empty object.
func (r *run) deleteAt(path, sentence string) error {
	if err := r.call("DELETE", path, nil, nil); err != nil {
		return err
	}
	return r.print(struct{}{}, func(w io.Writer) { row(w, sentence) })
}

// listAt prints all pages of a list as a table, or a sentence where the list is empty.
func listAt[T any](r *run, path, empty string, head []string, cells func(T) []string) error {
	all, err := every[T](r, path)
	if err != nil {
		return err
	}
	return r.print(all, func(w io.Writer) { table(w, all, empty, head, cells) })
}

func table[T any](w io.Writer, all []T, empty string, head []string, cells func(T) []string) {
	if len(all) == 0 && empty != "" {
		row(w, empty)
		return
	}
	row(w, head...)
	for _, item := range all {
		row(w, cells(item)...)
	}
}

// print writes v as JSON, or what text writes.
func (r *run) print(v any, text func(io.Writer)) error {
	out := r.cmd.OutOrStdout()
	if r.json {
		return r.encode(out, v)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	text(w)
	return w.Flush()
}

func (r *run) encode(w io.Writer, v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, livewatch.EscapeControls(text.String(), printable))
	return err
}

// rows writes lines of a name and a value, without those that have no value.
func rows(w io.Writer, lines [][2]string) {
	for _, line := range lines {
		if line[1] != "" {
			row(w, line[0]+":", line[1])
		}
	}
}

// row writes one line of a table. A line without a first cell continues the one before.
func row(w io.Writer, cells ...string) {
	for i, c := range cells {
		if c = printable(c); c == "" && cells[0] != "" {
			c = "-"
		}
		cells[i] = c
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}

// printable replaces control characters, which a terminal would obey: names come from directories
// and from clients that registered themselves.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || unicode.IsGraphic(c) && !unicode.Is(unicode.Cf, c) {
			return c
		}
		return unicode.ReplacementChar
	}, s)
}

// exactly is the check of positional arguments, with their names in the complaint.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) && !slices.Contains(args, "") {
			return nil
		}
		hint := ""
		if len(args) < len(names) && cmd.Flags().NFlag() > 0 { // -c9 may be an id that was read as a flag
			hint = afterDashes
		}
		if len(args) < len(names) {
			return fmt.Errorf("%s is missing, expected `%s %s`%s", names[len(args)], cmd.CommandPath(), strings.Join(names, " "), hint)
		}
		if i := slices.Index(args, ""); i >= 0 && i < len(names) {
			return fmt.Errorf("%s is empty, expected `%s %s`", names[i], cmd.CommandPath(), strings.Join(names, " "))
		}
		return fmt.Errorf("'%s' is one word too many, expected `%s %s`", printable(args[len(names)]), cmd.CommandPath(), strings.Join(names, " "))
	}
}

const afterDashes = "; a word of which the first character is - goes behind --"

// atMostID allows one argument or none.
func atMostID(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || slices.Contains(args, "") {
		return fmt.Errorf("expected `%s [ID]`, with at most one ID that is not empty", cmd.CommandPath())
	}
	return nil
}

// nothing is exactly no argument.
func nothing(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected word '%s', expected `%s` alone", printable(args[0]), cmd.CommandPath())
	}
	return nil
}

// every reads all pages of a list.
func every[T any](r *run, path string) ([]T, error) {
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	first := path + mark + "limit=" + strconv.Itoa(adminapi.MaxPage)
	all := []T{}
	for at, page := first, 0; page < maxPages; page++ {
		var got adminapi.List[T]
		if err := r.call("GET", at, nil, &got); err != nil {
			return nil, err
		}
		if all = append(all, got.Items...); got.Next == "" {
			return all, nil
		}
		at = first + "&after=" + url.QueryEscape(got.Next)
	}
	return nil, fmt.Errorf("the list has more than %d entries; ask the admin endpoint itself, page by page", maxPages*adminapi.MaxPage)
}

// maxPages stops the reading of a list that has no end.
const maxPages = 1000
