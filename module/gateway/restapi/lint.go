package restapi

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/lint"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Paths are those that are declared, of all versions, each once. Declarations that do not
// compile have none.
func (h *REST) Paths() []string {
	seen := make(map[string]bool)
	var all []string
	add := func(path string) {
		if !seen[path] {
			seen[path] = true
			all = append(all, path)
		}
	}
	sets := [][]resource.Resource{h.Resources}
	for i := range h.Versions {
		sets = append(sets, h.Versions[i].Resources)
	}
	for _, set := range sets {
		if t, err := routes.New(set); err == nil {
			for _, o := range t.Operations() {
				add(o.Path)
			}
		}
	}
	for _, j := range h.Jobs {
		add("/" + strings.Trim(j.Path, "/"))
	}
	return all
}

// Request is one that is declared: its path, and one that it stands for.
type Request struct{ Method, Path, Sample string }

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// Requests are those that are declared of a version, or of none (""), by their paths behind
// it. Declarations that do not compile have none.
func (h *REST) Requests(version string) (all []Request) {
	resources := h.Resources
	for i := range h.Versions {
		if v := &h.Versions[i]; v.Name == version {
			resources = v.resources(h.Resources)
		}
	}
	if t, err := routes.New(resources); err == nil {
		for _, o := range t.Operations() {
			all = append(all, Request{o.Method, o.Path, placeholder.ReplaceAllString(o.Path, "0")})
		}
	}
	for _, j := range h.Jobs {
		path := "/" + strings.Trim(j.Path, "/")
		all = append(all, Request{http.MethodPost, path, path})
	}
	return all
}

// lint judges the names of what is loaded.
func (h *REST) lint() error {
	if h.Lint == "off" {
		return nil
	}
	var messages []string
	for _, f := range lint.Check(h.Paths()) {
		messages = append(messages, f.Message)
	}
	switch {
	case len(messages) == 0:
		return nil
	case h.Lint == "error":
		return errors.New("lint: " + strings.Join(messages, "; "))
	}
	h.log.Warn(fmt.Sprintf("%d names are against the conventions", len(messages)), "names", messages)
	return nil
}
