package apirest

import (
	"errors"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/lint"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// pathLine is a declared path and its line in the file.
type pathLine struct {
	path string
	line caddyfile.Token
}

func (b *block) notePath(path string, line caddyfile.Token) {
	b.paths = append(b.paths, pathLine{resource.PlainPath(path), line})
}

// checkNames checks the names in paths unless lint is off. Provisioning checks them again, for
// configurations that are not Caddyfiles; here an error or warning has its line.
func (b *block) checkNames(head caddyfile.Token) error {
	if b.Lint == "off" {
		return nil
	}
	for _, f := range lint.Check(b.Paths()) {
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
	for _, exact := range []bool{true, false} {
		for _, d := range b.paths {
			if d.path == path || !exact && strings.HasPrefix(d.path+"/", path+"/") {
				return d.line
			}
		}
	}
	return otherwise
}
