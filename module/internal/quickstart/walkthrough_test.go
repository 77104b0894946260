package quickstart

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// block is a fenced block of shell in the README; lines count from 1.
type block struct {
	first, last int
	text        string
}

// shell takes the blocks of ```sh out of a page. The script has every line where the
// page has it, so that the shell's line numbers are the page's.
func shell(page string) (script string, blocks []block) {
	var lines []string
	inside := false
	for i, line := range strings.Split(page, "\n") {
		switch {
		case !inside && line == "```sh":
			inside, blocks = true, append(blocks, block{first: i + 2})
			line = ""
		case inside && line == "```":
			inside, line = false, ""
		case inside:
			b := &blocks[len(blocks)-1]
			b.last, b.text = i+1, b.text+line+"\n"
		default:
			line = ""
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n", blocks
}

func TestTheWalkthroughOfTheREADMEWorksLineByLine(t *testing.T) {
	s := start(t)
	page, err := os.ReadFile(filepath.Join(s.dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, blocks := shell(string(page))
	if len(blocks) < 10 {
		t.Fatalf("the README has %d blocks of shell", len(blocks))
	}
	file := filepath.Join(t.TempDir(), "walkthrough.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	// The trap names the line that failed; a pipe's part or a function's line counts.
	cmd := exec.CommandContext(ctx, "bash", "-Eeuo", "pipefail", "-c",
		`trap 'echo "README.md:$LINENO: $BASH_COMMAND: status $?" >&2' ERR; . "$0"`, file)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.environ(), time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\nThe output:\n%s", err, failed(string(out), blocks), out)
	}
	// What the text promises, in its order.
	rest := string(out)
	for _, want := range []string{
		"HTTP/1.1 401", "Www-Authenticate: Bearer", `"code":"unauthorized"`, // without a token
		"ok",                                         // public
		`"title":`, "X-RateLimit-Limit: 1000", "403", // a program
		"Sign in</h1>", "Article Reader", // the pages
		"state=", "u-1001", // a user
		"invalid_grant", "401", "invalid_grant", // the code a second time
		"urn:ietf:params:oauth:request_uri:", "</h1>", // pushed
		`"active":true`, "401", "authorization_servers", // ended, and the API's own metadata
		"client_id:", "batch", `"scope":"articles:read"`, // a client with a key
		"SOURCE", "nightly", "no living grant", "ES256", "403 forbidden", "ok    store", "Removed client batch", // behind the counter
		"caddy_gatehouse_guard_decisions_total",   // what is counted
		"articles:raed", "X-RateLimit-Limit: 500", // a mistake and a change
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %s in the rest of the output:\n%s\nThe whole:\n%s", want, rest, out)
		}
		rest = after
	}
}

// failed finds the block that the output says has failed.
func failed(out string, blocks []block) string {
	m := regexp.MustCompile(`README\.md:(\d+): `).FindStringSubmatch(out)
	if m == nil {
		return ""
	}
	line, _ := strconv.Atoi(m[1])
	for _, b := range blocks {
		if b.first <= line && line <= b.last {
			return "The block:\n" + b.text
		}
	}
	return ""
}
