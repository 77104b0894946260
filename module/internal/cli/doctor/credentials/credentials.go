// Package credentials finds credentials in what Caddy's handlers write into logs and traces.
package credentials

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// Logged returns what a handler logs, with placeholders. A log_append may name a variable without braces.
func Logged(raw json.RawMessage) string {
	var h struct {
		Value      string            `json:"value"` // of log_append
		Span       string            `json:"span"`  // of tracing
		Attributes map[string]string `json:"span_attributes"`
		Error      string            `json:"error"` // of error
	}
	_ = json.Unmarshal(raw, &h) // what cannot be read logs nothing
	text := append(slices.Collect(maps.Values(h.Attributes)), h.Value, h.Span, h.Error)
	if h.Value != "" && !strings.Contains(h.Value, "{") {
		text = append(text, "{http.vars."+h.Value+"}")
	}
	return strings.Join(text, " ")
}

// Variables returns the placeholders of variables that `vars` sets to credentials.
func Variables(s explain.Server) (all []string) {
	for raw := range s.All("vars") {
		var variables map[string]json.RawMessage
		_ = json.Unmarshal(raw, &variables) // what cannot be read sets nothing
		for name, value := range variables {
			if In(string(value), nil) != "" {
				all = append(all, "{http.vars."+name+"}")
			}
		}
	}
	return all
}

var (
	placeholder = regexp.MustCompile(`\{http\.[^{}]+\}`)
	// credential are placeholders of credentials, of bodies, which hold some, and of addresses in responses.
	credential = regexp.MustCompile(`(?i)^\{http\.(?:request\.(?:cookie\.|body|(?:orig_)?uri\.query\.(?:access_token|code|state)\})|response\.body|` +
		`(?:request|response|reverse_proxy|intercept)\.header\.(?:[^}]*(?:authorization|cookie|token|secret|password|api-?key|session|assertion|jwt)|(?:content-)?location\}|refresh\}|dpop\}))`)
)

// In returns a placeholder in a text that holds credentials, "" if there is none. variables hold some, too.
func In(text string, variables []string) string {
	for _, p := range placeholder.FindAllString(text, -1) {
		if credential.MatchString(p) || slices.Contains(variables, p) {
			return p
		}
	}
	return ""
}
