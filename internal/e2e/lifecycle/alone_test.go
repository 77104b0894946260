package lifecycle

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestQueryTokenIsNotLoggedWithoutAPIErrors(t *testing.T) {
	g, _ := prepare(t)
	address := fmt.Sprintf("localhost:%d", harness.FreePorts(t, 1)[0])
	text := strings.Replace(with(), "\tlog {\n\t\toutput discard\n", "\tdebug\n\tlog {\n\t\toutput file $DIR/all.log\n\t\tlevel DEBUG\n", 1)
	g.Start(t, text+`
http://`+address+` {
	log
	oauth_guard {
		scope read GET /a
	}
	respond "in"
}
`)
	second := &harness.Gateway{API: "http://" + address}
	expect(t, second.Call(t, http.MethodGet, "/a?seen=in-the-log", ""), http.StatusUnauthorized)
	expect(t, second.Call(t, http.MethodGet, "/a?access_token=must-not-be-seen", ""), http.StatusBadRequest)
	expect(t, g.Call(t, http.MethodGet, "/a?access_token=must-not-be-seen", ""), http.StatusBadRequest)
	log, err := os.ReadFile(filepath.Join(g.Dir, "all.log"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), "in-the-log") {
		t.Error("nothing is logged at all")
	}
	if strings.Contains(string(log), "must-not-be-seen") {
		t.Errorf("the log shows the token:\n%s", log)
	}
}

func TestLimitWithoutPathAppliesToEveryRequest(t *testing.T) {
	g, _ := prepare(t)
	address := fmt.Sprintf("localhost:%d", harness.FreePorts(t, 1)[0])
	g.Start(t, with()+`
http://`+address+` {
	api_limit {
		ip 100 1h
		cost 10 /export
		limiter alone
	}
	respond "in"
}
`)
	for _, c := range []struct{ target, remaining string }{
		{"http://" + address, "99"}, {"/export", "89"}, {"/%65xport", "79"}, {"/other", "78"},
	} {
		if got := harness.Wire(t, "http://"+address, "GET "+c.target).Header.Get("X-RateLimit-Remaining"); got != c.remaining {
			t.Errorf("%s: remaining %s, want %s", c.target, got, c.remaining)
		}
	}
}
