package doctor

import (
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/credentials"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/sites"
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
	whole := sites.WithLater(s)
	variables := credentials.Variables(whole)
	for _, handler := range []string{"log_append", "tracing", "error"} {
		for raw := range whole.All(handler) {
			text := credentials.Logged(raw)
			switch found := credentials.In(text, variables); {
			case found != "":
				out.Warn("logs", "remove the placeholder from `"+handler+"`", "server %s writes %s into logs or traces by `%s`: whoever reads them sees credentials", name, found, handler)
			case ours && (strings.Contains(text, "uri") || strings.Contains(text, "query")):
				out.Warn("logs", "remove the field from `"+handler+"`", "server %s appends the address to its log lines: codes and states travel in addresses", name)
			}
		}
	}
	return out
}
