package doctor

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// logs looks for what puts credentials into log lines that the gateway does not write.
func (p configuration) logs() (out adminapi.Findings) {
	const check = "logs"
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		ours := s.Has("gatehouse_server")
		if !ours && !s.Has("gatehouse_guard") {
			continue
		}
		if s.Logs != nil && s.Logs.Credentials {
			out.Fail(check, "remove `log_credentials` from the global option servers", "server %s writes Authorization and Cookie fields into its access log: tokens and sessions can be read there", name)
		}
		out = append(out, appendedSecrets(s, name, ours)...)
		if log := p.logOfRewrites(); log != "" && s.Has("rewrite") {
			out.Warn(check, "add `exclude "+rewriteLogger+"` to that log, or raise its level",
				"server %s has `rewrite`, `uri` or `handle_path`, and the log %s is at level DEBUG: Caddy writes each address that it changes there, with its query, in which codes and states travel", name, log)
		}
	}
	if len(out) == 0 {
		out.OK(check, "nothing in the configuration puts credentials into logs")
	}
	return out
}

// rewriteLogger is the logger of Caddy's handler rewrite, which writes whole addresses at level DEBUG.
const rewriteLogger = "http.handlers.rewrite"

// logOfRewrites names a log that takes what rewriteLogger writes at level DEBUG, "" if none does.
func (p configuration) logOfRewrites() string {
	within := func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(rewriteLogger+".", n+".") })
	}
	for _, name := range explain.SortedKeys(p.Logs) {
		log := p.Logs[name]
		if log != nil && strings.EqualFold(log.Level, "debug") && (len(log.Include) == 0 || within(log.Include)) && !within(log.Exclude) {
			return name
		}
	}
	return ""
}

// appendedSecrets looks for handlers that write credentials into logs and traces. ours says that the server has oauth_server.
func appendedSecrets(s explain.Server, name string, ours bool) (out adminapi.Findings) {
	whole := withLater(s)
	variables := secretVariables(whole)
	for _, handler := range []string{"log_append", "tracing", "error"} {
		for raw := range whole.All(handler) {
			text := loggedText(raw)
			switch found := secretIn(text, variables); {
			case found != "":
				out.Warn("logs", "remove the placeholder from `"+handler+"`", "server %s writes %s into logs or traces by `%s`: whoever reads them sees credentials", name, found, handler)
			case ours && (strings.Contains(text, "uri") || strings.Contains(text, "query")):
				out.Warn("logs", "remove the field from `"+handler+"`", "server %s appends the address to its log lines: codes and states travel in addresses", name)
			}
		}
	}
	return out
}

// loggedText returns what a handler logs, with placeholders. A log_append may name a variable without braces.
func loggedText(raw json.RawMessage) string {
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

// secretVariables returns the placeholders of variables that `vars` sets to credentials.
func secretVariables(s explain.Server) (all []string) {
	for raw := range s.All("vars") {
		var variables map[string]json.RawMessage
		_ = json.Unmarshal(raw, &variables) // what cannot be read sets nothing
		for name, value := range variables {
			if secretIn(string(value), nil) != "" {
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

// secretIn returns a placeholder in a text that holds credentials, "" if there is none. variables hold some, too.
func secretIn(text string, variables []string) string {
	for _, p := range placeholder.FindAllString(text, -1) {
		if credential.MatchString(p) || slices.Contains(variables, p) {
			return p
		}
	}
	return ""
}
