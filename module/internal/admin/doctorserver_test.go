package admin

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// served is a limiter elsewhere.
type served struct {
	ratelimit.OpenSource
	away, blind  error
	wrong, risky map[string]string
}

func (s *served) Open(context.Context) (ratelimit.OpenSource, error) { return s, nil }
func (s *served) Health() error                                      { return s.away }
func (s *served) Examine(context.Context) (_, _ map[string]string, _ error) {
	return s.wrong, s.risky, s.blind
}

// inProcess is a limiter without a server.
type inProcess struct{ ratelimit.OpenSource }

func (inProcess) Health() error { return nil }

func TestDoctorAsksALimitersServer(t *testing.T) {
	secretive := errors.New("dial redis://u:hunter2@h:1: refused")
	for name, c := range map[string]struct {
		limiter *served
		closed  bool
		want    adminapi.Findings
	}{
		"well": {&served{}, false, adminapi.Findings{
			{Check: "limiter", Grade: "ok", Message: "the limiter reaches its counts"}, {Check: "limiter server", Grade: "ok", Message: "nothing to remark about the server"},
		}},
		"forgetful": {&served{wrong: map[string]string{"c is wrong": "mend c"}, risky: map[string]string{"b is risky": "mend b", "a is risky": "mend a"}}, false, adminapi.Findings{
			{Check: "limiter", Grade: "ok", Message: "the limiter reaches its counts"},
			{Check: "limiter server", Grade: "fail", Message: "c is wrong", Remedy: "mend c"},
			{Check: "limiter server", Grade: "warn", Message: "a is risky", Remedy: "mend a"}, {Check: "limiter server", Grade: "warn", Message: "b is risky", Remedy: "mend b"},
		}},
		"not to be looked at": {&served{blind: secretive}, false, adminapi.Findings{
			{Check: "limiter", Grade: "ok", Message: "the limiter reaches its counts"},
			{Check: "limiter server", Grade: "warn", Message: "the server could not be looked at: dial redis://REDACTED@h:1: refused", Remedy: "see that it can be reached and that the gateway's user there may run INFO"},
		}},
		"away": {&served{away: secretive}, false, adminapi.Findings{
			{Check: "limiter", Grade: "warn", Message: "the limiter does not reach its counts: dial redis://REDACTED@h:1: refused", Remedy: "look at the server that the global option `limiter` names and at the way to it; until it is back `on_outage` decides"},
		}},
		"away and missed": {&served{away: secretive}, true, adminapi.Findings{
			{Check: "limiter", Grade: "fail", Message: "the limiter does not reach its counts: dial redis://REDACTED@h:1: refused", Remedy: "look at the server that the global option `limiter` names and at the way to it; until it is back an api_limit with `on_outage closed` answers 503"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &Config{OpenLimiter: c.limiter.Open, LimitsFailClosed: c.closed}
			var got adminapi.Findings
			if g.checkLimiter(t.Context(), &got); cmp.Diff(c.want, got) != "" {
				t.Error(cmp.Diff(c.want, got))
			}
		})
	}
	g := &Config{OpenLimiter: func(context.Context) (ratelimit.OpenSource, error) { return inProcess{}, nil }}
	var got adminapi.Findings
	if g.checkLimiter(t.Context(), &got); len(got) != 1 || got[0].Grade != "ok" {
		t.Errorf("in process: %+v", got)
	}
}
