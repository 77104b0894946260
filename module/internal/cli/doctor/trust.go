package doctor

import (
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/servers"
)

// proxiesOf says which proxies a server believes.
func proxiesOf(s explain.Server) servers.Proxies {
	return servers.Proxies{Listen: s.Listen, TCP: len(s.TrustedProxies) > 0, Unix: s.TrustedProxiesUnix}
}
