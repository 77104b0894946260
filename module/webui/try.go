package webui

import (
	"bytes"
	"fmt"
)

// errorCodes are the values of ErrorView.Code.
var errorCodes = []string{
	"invalid_request", "unknown_client", "invalid_redirect_uri", "expired", "already_answered", "forbidden",
	"not_found", "method_not_allowed", "too_large", "too_many", "unavailable", "server_error", "plaintext",
}

// try renders every page once in each of its states and languages. A template that
// parses can still name a field that does not exist or put a value where html/template
// cannot escape it; found here, it stops a load instead of a sign-in.
func (p *Pages) try(files files) error {
	form := Form{Action: "/a", Token: "t", Request: "r"}
	views := map[string][]any{
		"login": {LoginView{Form: form}, LoginView{Form: form, Client: "c", Username: "u", Failed: true},
			LoginView{Form: form, Limited: true}},
		"consent": {ConsentView{Form: form, Client: "c"},
			ConsentView{Form: form, Client: "c", Host: "h", User: "u", Scopes: []ScopeView{{"n", "t"}, {"n", ""}}, Remember: true}},
		"logout": {LogoutView{Form: form, User: "u"}, LogoutView{Form: form}, LogoutView{Done: true}},
		"error":  {ErrorView{Detail: "d", Retry: "/r"}},
	}
	for _, code := range errorCodes {
		views["error"] = append(views["error"], ErrorView{Code: code})
	}
	for _, lang := range p.config.Languages {
		for _, page := range pageNames {
			for _, view := range views[page] {
				if _, err := p.render(new(bytes.Buffer), page, lang, view); err != nil {
					return fmt.Errorf("webui: %s in %s%s: %w", page, lang, files.from(), err)
				}
			}
		}
	}
	return nil
}
