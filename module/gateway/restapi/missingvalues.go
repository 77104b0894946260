package restapi

import (
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// missingValue is a placeholder that has no value when the configuration is loaded.
type missingValue struct {
	word        string // of the configuration, and the name of the parameter
	placeholder string
	expected    string
}

// fixedPlaceholder matches placeholders that do not depend on the request.
var fixedPlaceholder = regexp.MustCompile(`\{(env|file)\.[^{}]+\}`)

// warnOfMissingValues logs the environment variables and files that `send fixed` and `login`
// need and that are missing or empty. It is no error: they may be there when a request comes,
// which is answered with 503 or 502 until then.
func (h *REST) warnOfMissingValues() {
	for _, m := range h.missingValues() {
		h.log.Warn("a placeholder has no value: requests that need it fail until it has one",
			"word", m.word, "placeholder", m.placeholder, "expected", m.expected)
	}
}

func (h *REST) missingValues() (all []missingValue) {
	repl := caddy.NewReplacer()
	check := func(word, value string) {
		for _, placeholder := range fixedPlaceholder.FindAllString(value, -1) {
			if _, err := repl.ReplaceOrErr(placeholder, true, true); err == nil {
				continue
			}
			m := missingValue{word, placeholder, "a readable file that is not empty"}
			if strings.HasPrefix(placeholder, "{env.") {
				m.expected = "an environment variable that is set and not empty"
			}
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	checkFixed := func(fixed []resource.Fixed) {
		for _, f := range fixed {
			check("send fixed "+f.Name, f.Value)
		}
	}
	var checkResources func(resources []resource.Resource)
	checkResources = func(resources []resource.Resource) {
		for i := range resources {
			checkFixed(resources[i].Fixed)
			checkResources(resources[i].Nested)
		}
	}
	checkLogin := func(c *login.Config) {
		if c == nil {
			return
		}
		for _, step := range c.Steps {
			for _, v := range step.Send {
				check("login "+v.Name, v.Value)
			}
		}
	}
	checkFixed(h.Fixed)
	checkResources(h.Resources)
	checkLogin(h.Login)
	for i := range h.Versions {
		checkResources(h.Versions[i].Resources)
		checkLogin(h.Versions[i].Login)
	}
	return all
}
