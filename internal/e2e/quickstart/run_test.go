package quickstart

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestRunPrintsWorkingAddressesAndStopsCleanly(t *testing.T) {
	s := start(t)
	said := s.Out.String()
	for address, want := range map[string]int{
		s.reader: http.StatusOK,
		s.issuer + "/.well-known/oauth-authorization-server": http.StatusOK,
		s.api + "/articles":  http.StatusUnauthorized,
		s.legacy:             http.StatusNotFound,
		s.admin + "/metrics": http.StatusOK,
	} {
		if !strings.Contains(said, address) {
			t.Errorf("run.sh does not print %s", address)
		}
		if got, body := harness.Get(t, address); got != want {
			t.Errorf("%s answers %d, want %d: %.200s", address, got, want, body)
		}
	}
	s.Private(t, "state/env", "state/state.db", "state/caddy.log")
	secret := s.Secret(t, "READER_SECRET")
	s.Unwritten(t, secret)
	s.Stop(t)
	s.Start(t)
	if s.Secret(t, "READER_SECRET") != secret {
		t.Error("the second start made new secrets")
	}
}

func TestRunReportsATakenPortAndEndsWithItsPrograms(t *testing.T) {
	e := prepare(t)
	e.RefusesTakenPorts(t)
	e.EndsWithEachProgram(t)
}

func TestRunEndsWhenCaddyIsStopped(t *testing.T) {
	s := start(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.admin+"/stop", nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := harness.Do(t, http.DefaultClient, r); p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	if err := s.End(t); err == nil || !strings.Contains(s.Out.String(), "a program has ended") {
		t.Errorf("%v: %s", err, s.Out)
	}
}
