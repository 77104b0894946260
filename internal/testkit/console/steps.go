//go:build unix

package console

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// step is a command of a page, or a file to save before the next one.
type step struct {
	line    int
	command string
	prints  []string // what the page shows below the command
	file    string   // its name; command is its text
}

// saveAs names the file of the next block.
var saveAs = regexp.MustCompile("Save this as `([^`]+)`")

// readSteps returns what a page has its reader do. In a block of console, "$ " begins a command and "> "
// continues it; everything else is output.
func readSteps(page string) (steps []step) {
	var language, file string
	for i, line := range strings.Split(page, "\n") {
		last := len(steps) - 1
		switch {
		case language == "" && strings.HasPrefix(line, "```"):
			language = cmp.Or(line[3:], "text")
			if file != "" && language != "console" {
				steps = append(steps, step{line: i + 1, file: file})
			}
		case line == "```":
			language, file = "", ""
		case language == "":
			if m := saveAs.FindStringSubmatch(line); m != nil {
				file = m[1]
			}
		case language == "console" && strings.HasPrefix(line, "$ "):
			steps = append(steps, step{line: i + 1, command: line[2:]})
		case language == "console" && strings.HasPrefix(line, "> "):
			steps[last].command += "\n" + line[2:]
		case language == "console":
			steps[last].prints = append(steps[last].prints, line)
		case file != "":
			steps[last].command += line + "\n"
		}
	}
	return steps
}

// pattern matches an output that begins as the page shows it. "..." stands for anything, in a line or for lines.
func pattern(prints []string) *regexp.Regexp {
	text := regexp.QuoteMeta(strings.Join(prints, "\n"))
	return regexp.MustCompile(`(?s)^` + strings.ReplaceAll(text, `\.\.\.`, `.*?`))
}

// script runs the steps one after the other in one shell, and marks what each prints.
func script(steps []step) string {
	var b strings.Builder
	b.WriteString("set -m\n") // jobs are in groups of their own, as at a terminal
	for i, s := range steps {
		if s.file != "" {
			fmt.Fprintf(&b, "cat >%s <<'END OF FILE'\n%sEND OF FILE\n", s.file, s.command)
			continue
		}
		fmt.Fprintf(&b, "echo '%s%d'\n%s\necho; echo '%s' $?\n", begins, i, s.command, ends)
	}
	return b.String()
}

const begins, ends = "=== step ", "=== status"

// Follow does what a page says, in a folder and with an environment, and reports each command that fails
// or prints something else than the page shows. The name of the page is for these reports.
func Follow(t testing.TB, name, page, dir string, env []string) {
	t.Helper()
	steps := readSteps(page)
	if len(steps) == 0 {
		t.Fatalf("%s has no commands", name)
	}
	out := runShell(t, script(steps), dir, env)
	for i, s := range steps {
		if s.file != "" {
			continue
		}
		_, got, ok := strings.Cut(out, begins+strconv.Itoa(i)+"\n")
		got, rest, done := strings.Cut(got, "\n"+ends+" ")
		switch {
		case !ok || !done:
			t.Fatalf("%s:%d: $ %s: did not run or did not end: %s", name, s.line, s.command, out)
		case !strings.HasPrefix(rest, "0\n"):
			t.Errorf("%s:%d: $ %s: status %s: %s", name, s.line, s.command, strings.SplitN(rest, "\n", 2)[0], got)
		case !pattern(s.prints).MatchString(strings.ReplaceAll(got, "\r", "")):
			t.Errorf("%s:%d: $ %s\nprints\n%s\nand the page says\n%s", name, s.line, s.command, got, strings.Join(s.prints, "\n"))
		}
	}
}
