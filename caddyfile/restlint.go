package caddyfile

import (
	"errors"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/rest/lint"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// declared is a path, and where it stands in the file.
type declared struct {
	path string
	at   caddyfile.Token
}

func (r *rest) saw(path string, at caddyfile.Token) {
	r.places = append(r.places, declared{resource.PlainPath(path), at})
}

// lint judges the names unless that is turned off. What is loaded is judged again, for
// configurations that are no Caddyfile; here there are lines to point to.
func (r *rest) lint(head caddyfile.Token) error {
	if r.Lint == "off" {
		return nil
	}
	for _, f := range lint.Check(r.Paths()) {
		where := r.place(f.Path, head)
		if r.Lint == "error" {
			return at(where, errors.New("lint: "+f.Message))
		}
		caddy.Log().Named("config.adapter.caddyfile").Warn("lint: "+f.Message, zap.String("file", where.File), zap.Int("line", where.Line))
	}
	return nil
}

// place is the line of a path, or of what it leads from.
func (r *rest) place(path string, otherwise caddyfile.Token) caddyfile.Token {
	for _, exact := range []bool{true, false} {
		for _, d := range r.places {
			if d.path == path || !exact && strings.HasPrefix(d.path+"/", path+"/") {
				return d.at
			}
		}
	}
	return otherwise
}
