package doctor

import (
	"os"
	"regexp"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// variable is a placeholder of Caddy for a variable of the environment.
var variable = regexp.MustCompile(`\{env\.([A-Za-z_][A-Za-z0-9_]*)\}`)

// substituteEnvironment gives variables that are missing here a value, so that the rest can be checked: the
// service may get them from a file.
func (f *file) substituteEnvironment(out *adminapi.Findings) (restore func()) {
	var missing []string
	for _, m := range variable.FindAllSubmatch(f.json, -1) {
		if name := string(m[1]); os.Getenv(name) == "" && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	for _, name := range missing {
		out.Warn("environment", "set it where Caddy starts (systemd reads `EnvironmentFile=`), and here to have it checked", "the environment variable %s is not set here", name)
		at(*out, f.places.containing("{env."+name+"}"))
		_ = os.Setenv(name, secret.Token()) // a name that matches is valid
	}
	f.substituted = len(missing) > 0
	return func() {
		for _, name := range missing {
			_ = os.Unsetenv(name)
		}
	}
}
