package apilimit

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func (l *Limit) charges(to []ratelimit.Charge, r *http.Request, access *token.Access) []ratelimit.Charge {
	for i := range l.policies {
		if subject := l.subject(l.Policies[i].By, r, access); subject != "" {
			to = append(to, ratelimit.Charge{Policy: &l.policies[i], Subject: subject})
		}
	}
	return to
}

// subject is whom a policy counts a request for, "" when it does not apply.
func (l *Limit) subject(by string, r *http.Request, access *token.Access) string {
	switch by {
	case "client":
		if access != nil {
			return access.Client
		}
	case "user":
		if access != nil && !strings.HasPrefix(access.Subject, token.ClientSubject) {
			return access.Subject
		}
	case "ip":
		return httpx.AddressKey(handler.ClientIP(r))
	case "route":
		return handler.Route(r)
	case "all":
		return "all"
	default:
		if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
			return hashSubject(repl.ReplaceKnown(by, ""))
		}
	}
	return ""
}

// hashSubject is the form of a subject that a placeholder gave: it may be a credential, such as
// the value of a header field, and the keys of a limiter are read by whoever may look at
// its server. "" stays: the policy does not apply.
func hashSubject(subject string) string {
	if subject == "" {
		return ""
	}
	return secret.Digest(subject)[:32] // 128 bits tell callers apart
}
