package restapi

import (
	"iter"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// fixedPlaceholder matches placeholders that do not depend on the request.
var fixedPlaceholder = regexp.MustCompile(`\{(env|file)\.[^{}]+\}`)

// warnOfMissingValues logs the environment variables and files that `send fixed` and `login`
// need and that are missing or empty. It is no error: they may be there when a request comes,
// which is answered with 503 or 502 until then.
func (h *REST) warnOfMissingValues() {
	repl := caddy.NewReplacer()
	seen := make(map[[2]string]bool)
	check := func(word, value string) {
		for _, placeholder := range fixedPlaceholder.FindAllString(value, -1) {
			if _, err := repl.ReplaceOrErr(placeholder, true, true); err == nil || seen[[2]string{word, placeholder}] {
				continue
			}
			seen[[2]string{word, placeholder}] = true
			expected := "a readable file that is not empty"
			if strings.HasPrefix(placeholder, "{env.") {
				expected = "an environment variable that is set and not empty"
			}
			h.log.Warn("a placeholder has no value: requests that need it fail until it has one",
				"word", word, "placeholder", placeholder, "expected", expected)
		}
	}
	checkFixed := func(fixed []resource.Fixed) {
		for _, f := range fixed {
			check("send fixed "+f.Name, f.Value)
		}
	}
	checkFixed(h.Fixed)
	for account, resources := range h.Declared() {
		for r := range resource.All(resources) {
			checkFixed(r.Fixed)
		}
		if account == nil {
			continue
		}
		for _, step := range account.Steps {
			for _, v := range step.Send {
				check("login "+v.Name, v.Value)
			}
		}
	}
}

// Declared iterates over what the handler and each of its versions declare: the sign-in, which may be nil,
// and the resources.
func (h *REST) Declared() iter.Seq2[*login.Config, []resource.Resource] {
	return func(yield func(*login.Config, []resource.Resource) bool) {
		if !yield(h.Login, h.Resources) {
			return
		}
		for i := range h.Versions {
			if v := &h.Versions[i]; !yield(v.Login, v.Resources) {
				return
			}
		}
	}
}
