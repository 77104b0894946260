package caddyfile

import (
	"errors"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
)

// parseHealth parses gatehouse_health.
//
//	gatehouse_health [<matcher>] {
//		ready <path>
//		live <path>
//	}
func parseHealth(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	if err := refusePaths(*h.Dispenser); err != nil {
		return nil, err
	}
	h.Next()
	matcher, err := h.ExtractMatcherSet()
	if err != nil {
		return nil, err
	}
	h.Next()
	head := h.Token()
	if h.NextArg() {
		return nil, h.Errf("gatehouse_health: unexpected argument '%s', expected a matcher such as @internal, or a block", h.Val())
	}
	health := new(gateway.Health)
	err = parse.Words{
		"ready": parse.Once(&health.Ready, readHealthPath),
		"live":  parse.Once(&health.Live, readHealthPath),
	}.ReadBlock(h.Dispenser, "gatehouse_health")
	if err != nil {
		return nil, err
	}
	given := *health
	if err := health.Check(); err != nil {
		return nil, parse.ErrorAt(head, errors.New("gatehouse_health: "+err.Error()))
	}
	if globalApp(h) == nil {
		return nil, parse.ErrorAt(head, errors.New("gatehouse_health: expected a global option `gatehouse { issuer ... }` at the top of the Caddyfile"))
	}
	return h.NewRoute(matcher, &given), nil
}

func readHealthPath(d *caddyfile.Dispenser) (string, error) {
	path, err := parse.Argument("a path such as /healthz")(d)
	if err != nil {
		return "", err
	}
	if err := gateway.CheckHealthPath(path); err != nil {
		return "", d.WrapErr(err)
	}
	return path, nil
}

// refusePaths refuses paths in front of the block. They were once those that the directive answers;
// as a matcher, one of the two would exclude the other.
func refusePaths(d caddyfile.Dispenser) error {
	d.Next()
	for _, path := range d.RemainingArgs() {
		if strings.HasPrefix(path, "/") {
			return d.Errf("gatehouse_health: unexpected '%s', expected its paths in a block, as lines `ready %s` or `live %s`; a matcher must be a named one such as @internal", path, path, path)
		}
	}
	return nil
}
