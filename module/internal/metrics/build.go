package metrics

import (
	"runtime/debug"
	"sync"
)

// Import paths in a program's build information.
const (
	gatewayModule = "github.com/gatehouse/gatehouse"
	caddyModule   = "github.com/caddyserver/caddy/v2"
)

var buildInfo = newGauges("build_info", "1, with the versions of the gateway, of Caddy and of Go that this program was built with.", "version", "caddy_version", "goversion")

// setBuildInfo is called once; a program does not change.
var setBuildInfo = sync.OnceFunc(func() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	buildInfo.WithLabelValues(moduleVersion(info, gatewayModule), moduleVersion(info, caddyModule), info.GoVersion).Set(1)
})

// moduleVersion is the version of a module in a program: "(devel)" for a working copy, "unknown"
// in a program that was built without the information.
func moduleVersion(info *debug.BuildInfo, path string) string {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != path {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version == "" { // replaced by a folder
			return "(devel)"
		}
		return m.Version
	}
	return "unknown"
}
