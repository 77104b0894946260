package webui

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// errorCodes are the values of ErrorView.Code.
var errorCodes = []string{
	"invalid_request", "unknown_client", "invalid_redirect_uri", "expired", "already_answered", "forbidden",
	"not_found", "method_not_allowed", "too_large", "too_slow", "too_many", "unavailable", "server_error", "plaintext",
	"gone", "taken", "unknown_code",
}

// accountDone are the values of AccountView.Done.
var accountDone = []string{"", "withdrawn", "ended", "others"}

// fullAccount contains one of everything, with and without optional parts.
func fullAccount(form Form) AccountView {
	return AccountView{
		Form: form, User: "u", Name: "n", Script: "/s", Logout: "/l", MoreApplications: true, MoreSessions: true,
		Applications: []ApplicationView{
			{ID: "i", Name: "n", Host: "h", Unverified: true, Scopes: []ScopeView{{"n", "t", true}, {Name: "n"}}, Remembered: true},
			{ID: "i", Name: "n"},
		},
		Sessions: []SessionView{
			{ID: "i", Browser: "b", System: "s", Address: "a", Place: "private", Current: true}, {ID: "i", Browser: "b", Address: "a", Idle: time.Minute},
			{ID: "i", System: "s", Place: "loopback", Idle: time.Hour}, {ID: "i", Idle: 48 * time.Hour},
		},
	}
}

// tryPages renders every page in each of its states and languages. A template that parses can
// still name a field that does not exist, or use a value where html/template cannot escape it;
// found here, that fails a load instead of a sign-in. So does a form without the token.
func (p *Pages) tryPages(files files) error {
	form := Form{Action: "/trial-action", Token: "trial-token", Request: "r"}
	views := map[string][]any{
		"login": {LoginView{Form: form}, LoginView{Form: form, Client: "c", Username: "u", Failed: true, Unverified: true},
			LoginView{Form: form, Limited: true}, LoginView{Form: form, Outdated: true}},
		"consent": {ConsentView{Form: form, Client: "c"},
			ConsentView{Form: form, Client: "c", Host: "h", User: "u", Scopes: []ScopeView{{"n", "t", true}, {Name: "n"}}, Remember: true,
				Unverified: true, Account: "/a"}},
		"logout": {LogoutView{Form: form, User: "u", Account: "/a"}, LogoutView{Form: form, Client: "c"}, LogoutView{Form: form, User: "u", Client: "c", Unverified: true},
			LogoutView{Done: true}, LogoutView{Done: true, Everywhere: true, Account: "/a"}},
		"account": {AccountView{Form: form, User: "u"}, fullAccount(form)},
		"entercode": {EnterCodeView{Form: form}, EnterCodeView{Form: form, User: "u", UserCode: "U", Failed: true},
			EnterCodeView{Form: form, Limited: true}},
		"error": {ErrorView{Detail: "d", Sent: "s", Retry: "/r", RequestID: "i"}},
		"home":  {HomeView{Login: "/l", Metadata: "/m"}},
	}
	tryQR := QRView{Client: "c", Host: "h", Image: "/i", Address: "https://h/c", UserCode: "U", Entry: "https://h/d", Number: "11",
		Poll: "/p?u=1", Refresh: "/r", Again: "/a", Redirect: "https://c/"}
	for _, state := range qrStates {
		tryQR.State = state
		small := tryQR
		small.Small, small.Top, small.Script, small.Code = true, true, "/s", "c"
		views["qr"] = append(views["qr"], tryQR, small)
	}
	for _, done := range confirmDone {
		views["confirm"] = append(views["confirm"], ConfirmView{Form: form, Client: "c", Done: done},
			ConfirmView{Form: form, Client: "c", Host: "h", User: "u", Scopes: []ScopeView{{"n", "t", true}, {Name: "n"}}, Unverified: true,
				Browser: "b", System: "s", Address: "a", AskNumber: true, UserCode: "U", Done: done})
	}
	for _, done := range accountDone {
		views["account"] = append(views["account"], AccountView{Form: form, Done: done})
	}
	for _, code := range errorCodes {
		views["error"] = append(views["error"], ErrorView{Code: code})
	}
	for _, lang := range p.config.Languages {
		for _, page := range pageNames {
			for _, view := range views[page] {
				var made bytes.Buffer
				_, err := p.renderPage(&made, page, lang, view)
				if err == nil && bytes.Contains(made.Bytes(), []byte(form.Action)) && !bytes.Contains(made.Bytes(), []byte(form.Token)) {
					err = errors.New(`a form without the token is refused: expected <input type="hidden" name="token" value="{{.View.Token}}"> in it`)
				}
				if err != nil {
					return fmt.Errorf("webui: %s in %s%s: %w", page, lang, files.errorSource(), err)
				}
			}
		}
	}
	return nil
}
