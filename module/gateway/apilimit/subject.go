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

// subject is the caller for whom a policy counts a request, "" if it does not apply.
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

// hashSubject hashes a subject that comes from a placeholder: it may be a credential, such as
// the value of a header field, and operators of a limiter's server can read its keys. "" stays
// empty, because the policy does not apply.
func hashSubject(subject string) string {
	if subject == "" {
		return ""
	}
	return secret.Digest(subject)[:32] // 128 bits tell callers apart
}
