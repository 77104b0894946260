package book

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/howto/*.md")
	harness.FailOn(t, err)
	for _, page := range append(pages, "../../../docs/tutorial.md") {
		name, _ := strings.CutPrefix(filepath.ToSlash(page), "../../../docs/")
		t.Run(name, func(t *testing.T) { walk(t, name) })
	}
}
