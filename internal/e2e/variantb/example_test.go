package variantb

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
)

// stand is the example, running.
type stand struct {
	*example.Example
	issuer, site string
}

func start(t *testing.T) *stand {
	t.Helper()
	e := example.Start(t, "variant-b", "variant-b/portal")
	return &stand{e, e.At("http://localhost:8080"), e.At("http://localhost:8082")}
}

func TestExampleREADMEWorksLineByLine(t *testing.T) {
	s := start(t)
	for _, want := range []string{s.site, s.issuer + "/device", "alice", "correct horse battery staple"} {
		if !strings.Contains(s.Out.String(), want) {
			t.Errorf("run.sh does not say %s", want)
		}
	}
	example.Promised(t, s.Walk(t),
		"Lantern Teahouse", "image/", "403", // the first screen
		"Lantern Teahouse", `"wx_errcode":404`, // the phone
		"Alice 爱丽丝", "openid", "unionid", // the site
		`"code":"invalid_grant"`, `"errcode":40163`, "400", // the code a second time
		"verification_uri", "authorization_pending", "Menu board", `"scope":"menu:read"`, // the device
		"client_secret:", "client_id:", "garden", "variant-b", "oven", "device_code", // by a command
		"polls_waiting", `tickets_total{kind="device",outcome="confirmed"} 1`, `tickets_total{kind="scan",outcome="confirmed"} 1`,
	)
	s.Private(t, "state/env", "state/state.db", "state/caddy.log")
	s.Unwritten(t, s.Secret(t, "PORTAL_SECRET"))
}

func TestRunReportsATakenPortAndEndsWithItsPrograms(t *testing.T) {
	e := example.Copy(t, "variant-b", "variant-b/portal")
	e.RefusesTakenPorts(t)
	e.EndsWithEachProgram(t)
}
