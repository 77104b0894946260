package cli

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestReadyFailsWhereTheNodeCannotServe(t *testing.T) {
	const failing = `{"ready":false,"state":"failing","parts":[{"part":"store","state":"failing","message":"the disk is full"}]}`
	for name, c := range map[string]struct {
		status int
		body   string
		exit   int
		out    string
	}{
		"ready":         {200, `{"ready":true,"state":"degraded","parts":[{"part":"limiter","state":"degraded","message":"each node counts"}]}`, 0, "limiter  degraded  each node counts\n"},
		"not ready":     {503, failing, exitRefused, "store  failing  the disk is full\n"},
		"another Caddy": {404, `{"error":"not found"}`, exitUnreachable, ""},
		"refused":       {403, `{"error":"host not allowed"}`, exitRefused, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/gatehouse/ready" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			admin, err := newAdminClient(strings.TrimPrefix(server.URL, "http://"), "", "")
			if err != nil {
				t.Fatal(err)
			}
			cmd := readyCommand()
			var out bytes.Buffer
			cmd.SetOut(&out)
			err = printReadiness(&run{cmd: cmd, admin: admin})
			exit := 0
			if e := (*cliError)(nil); errors.As(err, &e) {
				exit = e.exit
			}
			if exit != c.exit || !strings.HasSuffix(out.String(), c.out) {
				t.Errorf("exit %d, %q, %v", exit, out.String(), err)
			}
		})
	}
}
