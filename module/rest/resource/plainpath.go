package resource

import (
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
)

// PlainPath returns a client's path without the expressions of its placeholders. The path may lack
// its leading slash. A path that cannot be parsed is returned unchanged.
func PlainPath(path string) string {
	rooted := "/" + strings.TrimPrefix(path, "/")
	p, err := pathpattern.Parse(rooted)
	if err != nil {
		return path
	}
	return p.Text[len(rooted)-len(path):]
}
