package cli

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
)

func TestReadyFailsIfTheNodeCannotServe(t *testing.T) {
	const failing = `{"ready":false,"state":"failing","parts":[{"part":"store","state":"failing","message":"the disk is full"}]}`
	for name, c := range map[string]struct {
		status int
		body   string
		exit   int
		out    string
	}{
		"ready":         {200, `{"ready":true,"state":"degraded","parts":[{"part":"limiter","state":"degraded","message":"each node counts"}]}`, 0, "limiter  degraded  each node counts\n"},
		"not ready":     {503, failing, adminclient.ExitRefused, "store  failing  the disk is full\n"},
		"another Caddy": {404, `{"error":"not found"}`, adminclient.ExitUnreachable, ""},
		"refused":       {403, `{"error":"host not allowed"}`, adminclient.ExitRefused, ""},
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
			admin, err := adminclient.New(strings.TrimPrefix(server.URL, "http://"), "", "")
			if err != nil {
				t.Fatal(err)
			}
			cmd := readyCommand()
			var out bytes.Buffer
			cmd.SetOut(&out)
			err = printReadiness(&run{cmd: cmd, admin: admin})
			exit := 0
			if e := (*adminclient.Error)(nil); errors.As(err, &e) {
				exit = e.Exit
			}
			if exit != c.exit || !strings.HasSuffix(out.String(), c.out) {
				t.Errorf("exit %d, %q, %v", exit, out.String(), err)
			}
		})
	}
}
