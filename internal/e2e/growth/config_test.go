package growth

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const frame = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		level ERROR
	}
	gatehouse {
		issuer http://$ID
		store bolt $DIR/state.db
		users file $DIR/users.json
		scope read "Read"
		%s
	}
}
http://$ID {
	oauth_server
}
http://$API {
	%s
	respond ok
}
`

// configurations are Caddyfiles with n entries of one kind.
var configurations = []struct {
	name string
	text func(n int) string
}{
	{"clients", func(n int) string {
		return fmt.Sprintf(frame, repeat(n, `client c%d {
			secret 0123456789-0123456789-0123456789-%[1]d
			redirect_uri https://c%[1]d.example/cb
			scopes read
		}
		`), "")
	}},
	{"rules", func(n int) string {
		return fmt.Sprintf(frame, "", "oauth_guard {\n"+repeat(n, "scope read GET /r%d/*\n")+"}")
	}},
	{"resources", func(n int) string {
		return fmt.Sprintf(frame, "", "api_rest {\nto 127.0.0.1:1\n"+repeat(n, "resource r%d {\nlist {\n}\nupstream GET /r%[1]d /legacy/r%[1]d\nitem read /legacy/r%[1]d/{id}\n}\n")+"}")
	}},
}

func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Configurations adapt and load in a time that grows as their length does.
func TestConfigAdaptAndLoadTimes(t *testing.T) {
	for _, c := range configurations {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range sizes(200, 1000, 3000, 10_000) {
				g := harness.Prepare(t)
				g.WriteFile(t, "users.json", `{"users":[]}`)
				file := g.WriteFile(t, "Caddyfile", g.Text(c.text(n)))
				adapt := command(t, g, "adapt", "--config", file)
				validate := command(t, g, "validate", "--config", file)
				t.Logf("| %6d %s | adapt %v, adapt and provision %v |", n, c.name, adapt, validate)
			}
		})
	}
}

// command runs a command of the program and returns its CPU time.
func command(t *testing.T, g *harness.Gateway, args ...string) time.Duration {
	t.Helper()
	cmd := exec.Command(harness.Program(t), args...)
	cmd.Env = append(cmd.Environ(), "XDG_DATA_HOME="+g.Dir, "XDG_CONFIG_HOME="+g.Dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%.2000s", args, err, out[max(0, len(out)-2000):])
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(10 * time.Millisecond)
}
