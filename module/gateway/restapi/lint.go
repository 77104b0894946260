package restapi

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/rest/lint"
)

// CheckNames checks the names in the declared paths against the conventions. tables have the resources.
func CheckNames(jobs []job.Config, tables ...*Table) []lint.Finding {
	var paths []string
	for _, t := range tables {
		for _, o := range t.Operations() {
			paths = append(paths, o.Path)
		}
	}
	for _, j := range jobs {
		paths = append(paths, "/"+strings.Trim(j.Path, "/"))
	}
	return lint.Check(paths)
}

// Request is a declared request. Sample is a path that matches Path.
type Request struct{ Method, Path, Sample string }

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// Requests returns the declared requests of a version ("" for none), with their paths behind it.
// Declarations that do not compile have none.
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

// reportNames logs or refuses names that are against the conventions.
func (h *REST) reportNames(caddy.Context) error {
	if h.Lint == "off" {
		return nil
	}
	var messages []string
	for _, f := range CheckNames(h.Jobs, h.tables()...) {
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
