package oauthguard

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// reportRefusal tells the operator why a token was refused: in a metric, and at debug level in
// the log. The client is told what RFC 6750 says and no more. The token itself is never logged.
func (g *Guard) reportRefusal(r *http.Request, d *guard.Decision) {
	if d.Refusal == "" {
		return
	}
	g.refusals[d.Refusal].Inc()
	if d.ForgeryAlarm {
		g.app.WarnForgeries(g.log, handler.ClientIP(r))
	}
	if !g.log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	attrs := append([]slog.Attr{slog.String("check", string(d.Refusal)), slog.String("method", r.Method), slog.String("path", clip(r.URL.Path))},
		g.refusalDetails(r, d, time.Now())...)
	g.log.LogAttrs(r.Context(), slog.LevelDebug, "token refused", attrs...)
}

// refusalDetails are what was found in a token and what was expected.
func (g *Guard) refusalDetails(r *http.Request, d *guard.Decision, now time.Time) []slog.Attr {
	a := d.Refused
	if a == nil {
		return g.unverifiedClaims(r)
	}
	attrs := []slog.Attr{slog.String("token_id", clip(a.ID)), slog.String("client", clip(a.Client))}
	switch d.Refusal {
	case token.Expired:
		attrs = append(attrs, slog.Time("expired_at", a.Expires), slog.Duration("expired_for", now.Sub(a.Expires)))
	case token.NotYetValid:
		attrs = append(attrs, slog.Time("issued_at", a.IssuedAt.Time()), slog.Duration("issued_ahead", a.IssuedAt.Time().Sub(now)), slog.Duration("tolerated", jose.Leeway))
	case token.WrongAudience:
		attrs = append(attrs, slog.String("audience_expected", g.policy.Audience), slog.Any("audience_found", clipList(a.Audience)))
	case token.WrongIssuer:
		attrs = append(attrs, slog.String("issuer_expected", g.policy.Issuer), slog.String("issuer_found", clip(a.Issuer)))
	case token.UnknownKey:
		attrs = append(attrs, slog.String("kid", clip(a.KeyID)))
	}
	return attrs
}

// unverifiedClaims are the contents of a token without a valid signature, marked as such: anybody
// may have written them.
func (g *Guard) unverifiedClaims(r *http.Request) []slog.Attr {
	raw := r.Header.Get("Authorization")
	if _, credentials, ok := strings.Cut(raw, " "); ok {
		raw = strings.Trim(credentials, " ")
	}
	u, ok := token.ReadUnverified(raw)
	if !ok {
		return []slog.Attr{slog.Int("token_length", len(raw))}
	}
	return []slog.Attr{slog.Group("unverified",
		slog.String("kid", clip(u.KeyID)), slog.String("alg", clip(u.Alg)), slog.String("typ", clip(u.Type)), slog.String("issuer", clip(u.Issuer)),
		slog.Any("audience", clipList(u.Audience)), slog.String("token_id", clip(u.ID)), slog.String("client", clip(u.Client)),
		slog.Time("expires", u.Expires))}
}

// The longest text, in bytes, and the longest list in a line of the log.
const (
	maxLogged     = 200
	maxLoggedList = 10
)

// clip shortens a text that anybody may have written.
func clip(s string) string {
	if len(s) <= maxLogged {
		return s
	}
	return strings.ToValidUTF8(s[:maxLogged], "") + "..."
}

func clipList(list []string) []string {
	var out []string
	for _, s := range list[:min(len(list), maxLoggedList)] {
		out = append(out, clip(s))
	}
	return out
}
