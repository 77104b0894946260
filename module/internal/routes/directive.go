package routes

// directives are what Gatehouse's handlers are called in a Caddyfile. Their names in JSON begin with
// `gatehouse_`, so that no plugin can have the same.
var directives = map[string]string{
	"gatehouse_server": "oauth_server",
	"gatehouse_guard":  "oauth_guard",
	"gatehouse_limit":  "api_limit",
	"gatehouse_errors": "api_errors",
	"gatehouse_rest":   "api_rest",
	"gatehouse_proxy":  "api_proxy",
}

// Directive returns the directive of a handler, by which messages call it: the handler's own
// name, as in Caddy, unless it is one of those that differ.
func Directive(handler string) string {
	if word, ok := directives[handler]; ok {
		return word
	}
	return handler
}
