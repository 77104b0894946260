package restapi

import (
	"fmt"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// startFastCGI starts a program that takes its address from REQUEST_URI, as Go's fcgi and CodeIgniter do, and says what it is.
func startFastCGI(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		_ = fcgi.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"id":1,"uri":%q}`, r.URL.RequestURI())
		}))
	}()
	return l.Addr().String()
}

// R11: a program behind FastCGI is told its query twice, in QUERY_STRING and in REQUEST_URI, and parameters that the gateway adds are in both.
func TestFastCGISendsFixedParametersInBothAddresses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("s3cr3t"), 0o600); err != nil {
		t.Fatal(err)
	}
	const proxy = "reverse_proxy $FCGI {\n\t\t\ttransport fastcgi\n\t\t}"
	const all = "@all not header X-None 1\n\t\treverse_proxy @all $FCGI {\n\t\t\ttransport fastcgi\n\t\t}"
	const login = "\n\t\tlogin {\n\t\t\tGET /login?user=bot\n\t\t\tkeep json /uri as query sid\n\t\t}"
	const job = "\n\t\tjob import-jobs {\n\t\t\tupstream POST /import.php\n\t\t}"
	const session = "&sid=%2Flogin%3Fuser%3Dbot"
	for name, c := range map[string]struct{ inside, behind, session string }{
		"concealed":                 {"to {\n\t\t" + proxy + "\n\t\t}" + job, "", ""},
		"not concealed":             {"to {\n\t\t" + all + "\n\t\t}" + job, "", ""},
		"behind":                    {"", proxy, ""},
		"with login":                {"to {\n\t\t" + proxy + "\n\t\t}" + login, "", session},
		"with login, not concealed": {"to {\n\t\t" + all + "\n\t\t}" + login, "", session},
	} {
		t.Run(name, func(t *testing.T) {
			g := harness.Start(t, `{
`+harness.Quiet+`
	gatehouse {
		issuer http://$ID
		store bolt $DIR/state.db
	}
}
http://$ID {
	oauth_server
}
http://$API {
	rewrite /old/* /articles/7?q=b
	api_rest {
		`+c.inside+`
		undeclared pass
		send fixed tenant=42 key={file.$KEY}
		resource articles {
			upstream GET /articles/{id} /get.php?aid={id}
			query q
		}
	}
	`+c.behind+`
}
`, "$FCGI", startFastCGI(t), "$KEY", file)
			for path, want := range map[string]string{
				"/articles/7":     "/get.php?aid=7&tenant=42&key=s3cr3t" + c.session,
				"/articles/7?q=a": "/get.php?aid=7&q=a&tenant=42&key=s3cr3t" + c.session,
				"/old/7?q=a":      "/get.php?aid=7&q=b&tenant=42&key=s3cr3t" + c.session,
				"/other?q=a":      "/other?q=a", // undeclared
			} {
				p := g.Call(t, http.MethodGet, path, "")
				if p.Status != 200 || !strings.Contains(p.Body, fmt.Sprintf(`"uri":%q`, want)) {
					t.Errorf("%s: %d %s, want %s", path, p.Status, p.Body, want)
				}
			}
			if !strings.HasSuffix(c.inside, job) {
				return
			}
			p := harness.Wire(t, g.API, "POST /import-jobs", "Prefer: respond-async, wait=30", "Content-Length: 0")
			if !strings.Contains(p.Body, `"uri":"/import.php?tenant=42\u0026key=s3cr3t"`) {
				t.Errorf("a job: %d %s", p.Status, p.Body)
			}
		})
	}
}
