package apirest

import (
	"errors"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// notePath notes the line of a declared path. Of several lines the first counts.
func (b *block) notePath(path string, line caddyfile.Token) {
	path = resource.PlainPath(path)
	if _, ok := b.exact[path]; !ok {
		b.exact[path] = line
	}
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		if _, ok := b.below[path[:i]]; ok {
			return // and so have those above it
		}
		b.below[path[:i]] = line
	}
}

// checkNames checks the names in paths unless lint is off. Provisioning checks them again, for
// configurations that are not Caddyfiles; here an error or warning has its line.
func (b *block) checkNames(head caddyfile.Token) error {
	if b.Lint == "off" {
		return nil
	}
	for _, f := range restapi.CheckNames(b.Jobs, append([]*restapi.Table{b.table}, b.versions...)...) {
		line := b.lineOf(f.Path, head)
		if b.Lint == "error" {
			return parse.ErrorAt(line, errors.New("lint: "+f.Message))
		}
		caddy.Log().Named("config.adapter.caddyfile").Warn("lint: "+f.Message, zap.String("file", line.File), zap.Int("line", line.Line))
	}
	return nil
}

// lineOf returns the line that declares a path, or else a path below it.
func (b *block) lineOf(path string, otherwise caddyfile.Token) caddyfile.Token {
	if line, ok := b.exact[path]; ok {
		return line
	}
	if line, ok := b.below[path]; ok {
		return line
	}
	return otherwise
}
