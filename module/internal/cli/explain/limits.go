package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/gateway/apilimit"
)

// Limits is an api_limit that a request passes.
type Limits struct {
	Policies []string `json:"policies"` // as a Caddyfile has them
	Kept     string   `json:"kept"`     // the module that counts
	Name     string   `json:"name"`     // handlers of one name count together
	OnOutage string   `json:"on_outage,omitempty"`
}

// limit notes an api_limit. It does not ask the limiter, which would count the question.
func (e *Explainer) limit(raw json.RawMessage) error {
	var l apilimit.Limit
	if err := json.Unmarshal(raw, &l); err != nil {
		return fmt.Errorf("an api_limit: %w", err)
	}
	found := Limits{Kept: ModuleName(e.App.LimiterRaw, "memory"), Name: cmp.Or(l.Limiter, "default")}
	if found.Kept != "memory" {
		found.OnOutage = cmp.Or(l.OnOutage, "local")
	}
	for _, p := range l.Policies {
		words := p.Name
		if p.By != p.Name {
			words = "by " + p.Name + " " + p.By
		}
		words += fmt.Sprintf(" %d %s", p.Limit, shortDuration(time.Duration(p.Window)))
		if p.DryRun {
			words += " dry_run"
		}
		found.Policies = append(found.Policies, words)
	}
	e.at.Limits = append(e.at.Limits, found)
	return nil
}

// shortDuration writes a duration without the zeros at its end.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// ModuleName returns the name of a module of the global option, or absent if there is none.
func ModuleName(raw json.RawMessage, absent string) string {
	var m struct {
		Type string `json:"type"`
	}
	if raw == nil || json.Unmarshal(raw, &m) != nil {
		return absent
	}
	return cmp.Or(m.Type, absent)
}

func healthAnswers(raw json.RawMessage, r *http.Request) bool {
	var h gateway.Health
	return json.Unmarshal(raw, &h) == nil && h.Check() == nil && (r.URL.Path == h.Ready || r.URL.Path == h.Live)
}
