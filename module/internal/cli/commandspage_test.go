package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the commands there are now into docs/commands.md")

const (
	commandsPage = "../../../docs/commands.md"
	generated    = "<!-- What follows is written by: go test ./module/internal/cli -run CommandsPage -update -->\n"
	// asksGateway begins what every command says that asks a running gateway, of its flags and exit codes.
	asksGateway = "\n\nIt asks the running gateway over Caddy's admin endpoint"
)

// docs/commands.md has every command with its text and every flag, and nothing else.
func TestCommandsPageIsCurrent(t *testing.T) {
	root := &cobra.Command{Use: "caddy"}
	command := &cobra.Command{Use: "gatehouse"}
	caddycmd.Commands()["gatehouse"].CobraFunc(command)
	root.AddCommand(command)
	var page strings.Builder
	commands := 0
	for c := range leaves(command) {
		commands++
		describe(&page, c)
	}
	if commands < 25 {
		t.Fatalf("%d commands", commands)
	}
	raw, err := os.ReadFile(commandsPage)
	if err != nil {
		t.Fatal(err)
	}
	intro, written, _ := strings.Cut(string(raw), generated)
	if *update {
		if err := os.WriteFile(commandsPage, []byte(intro+generated+page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(page.String(), written); diff != "" {
		t.Error("- the commands, + docs/commands.md, which -update writes:\n" + diff)
	}
}

// leaves iterates over the commands that do something, in the order of their names.
func leaves(c *cobra.Command) func(yield func(*cobra.Command) bool) {
	return func(yield func(*cobra.Command) bool) {
		for _, sub := range c.Commands() {
			if !sub.HasSubCommands() {
				if !yield(sub) {
					return
				}
				continue
			}
			for leaf := range leaves(sub) {
				if !yield(leaf) {
					return
				}
			}
		}
	}
}

// describe writes the section of a command. What the introduction says of all commands is left out.
func describe(page *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(page, "\n## `%s %s`\n\n", c.Parent().CommandPath(), c.Use)
	text, _, asks := strings.Cut(c.Long, asksGateway)
	code := false
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		if indented := strings.HasPrefix(line, "\t"); indented != code {
			if code = indented; code {
				page.WriteString("```text\n")
			} else {
				page.WriteString("```\n")
			}
		}
		page.WriteString(strings.TrimPrefix(line, "\t"))
	}
	if code {
		page.WriteString("```\n")
	}
	head := "\n| flag | meaning | default |\n|---|---|---|\n"
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == "format" || asks && (f.Name == "address" || f.Name == "config" || f.Name == "adapter") {
			return
		}
		name, kind := "--"+f.Name, f.Value.Type()
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if kind != "bool" {
			name += " <" + map[string]string{"stringArray": "string", "stringSlice": "strings", "stringToString": "name=value"}[kind] + map[bool]string{true: kind}[!strings.HasPrefix(kind, "string") || kind == "string"] + ">"
		}
		value := f.DefValue
		if value == "false" || value == "[]" || value == "0s" {
			value = ""
		}
		fmt.Fprintf(page, "%s| `%s` | %s | %s |\n", head, name, strings.ReplaceAll(f.Usage, "|", `\|`), value)
		head = ""
	})
}
