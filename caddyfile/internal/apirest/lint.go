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

// declaredPath is a path and the line that declares it.
type declaredPath struct {
	text string
	line caddyfile.Token
}

// notePath notes the line of a declared path.
func (b *block) notePath(path string, line caddyfile.Token) {
	b.paths = append(b.paths, declaredPath{path, line})
}

// pathLines are the lines of declared paths. Of several lines the first counts.
type pathLines struct {
	exact map[string]caddyfile.Token
	below map[string]caddyfile.Token // of the first path below each
}

func newPathLines(all []declaredPath) pathLines {
	l := pathLines{make(map[string]caddyfile.Token), make(map[string]caddyfile.Token)}
	for _, p := range all {
		path := resource.PlainPath(p.text)
		if _, ok := l.exact[path]; !ok {
			l.exact[path] = p.line
		}
		for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
			if _, ok := l.below[path[:i]]; ok {
				break // and so have those above it
			}
			l.below[path[:i]] = p.line
		}
	}
	return l
}

// checkNames checks the names in paths unless lint is off. Provisioning checks them again, for
// configurations that are not Caddyfiles; here an error or warning has its line.
func (b *block) checkNames(head caddyfile.Token) error {
	if b.Lint == "off" {
		return nil
	}
	found := restapi.CheckNames(b.Jobs, append([]*restapi.Table{b.table}, b.versions...)...)
	if len(found) == 0 {
		return nil
	}
	lines := newPathLines(b.paths)
	for _, f := range found {
		line := lines.lineOf(f.Path, head)
		if b.Lint == "error" {
			return parse.ErrorAt(line, errors.New("lint: "+f.Message))
		}
		caddy.Log().Named("config.adapter.caddyfile").Warn("lint: "+f.Message, zap.String("file", line.File), zap.Int("line", line.Line))
	}
	return nil
}

// lineOf returns the line that declares a path, or else a path below it.
func (l pathLines) lineOf(path string, otherwise caddyfile.Token) caddyfile.Token {
	if line, ok := l.exact[path]; ok {
		return line
	}
	if line, ok := l.below[path]; ok {
		return line
	}
	return otherwise
}
