package guard

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestProxyHeadersHaveNoEffect(t *testing.T) { // G27, G28, H02
	g := build(t, nil)
	for _, target := range []string{"/admin", "/articles", "/health", "/other"} {
		want := g.Decide(request("GET", target))
		for name, value := range map[string]string{
			"X-Forwarded-Uri": "/health", "X-Original-URL": "/health", "X-Rewrite-URL": "/health", "X-Forwarded-Prefix": "/public", "X-Forwarded-Path": "/health",
			"X-HTTP-Method-Override": "DELETE", "X-Forwarded-Method": "OPTIONS", "X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", "True-Client-IP": "::1",
			"Forwarded": "for=127.0.0.1", "X-Forwarded-Host": "id.example.com", "User-Agent": "GoogleHC/1.0", "X-Auth-Subject": "admin",
			"X-Authenticated": "true", "Cookie": "gatehouse=x; access_token=both", "Proxy-Authorization": "Bearer both", "X-Access-Token": "both",
		} {
			for _, agent := range []string{"kube-probe/1.30", "ELB-HealthChecker/2.0"} {
				r := request("GET", target, name, value)
				r.Header.Add("User-Agent", agent)
				if d := cmp.Diff(want, g.Decide(r), cmpopts.EquateErrors()); d != "" {
					t.Errorf("%s: %s has an effect:\n%s", target, name, d)
				}
			}
		}
	}
}

func TestHostHeaderHasNoEffect(t *testing.T) { // G29
	g := build(t, nil)
	for _, host := range []string{"api.example.com", "API.example.com", "api.example.com.", "api.example.com:443", "localhost", ""} {
		r := request("GET", "/admin")
		r.Host = host
		if d := g.Decide(r); d.Status != 401 {
			t.Errorf("%q: %+v", host, d)
		}
	}
}

func TestPlaceholdersAreNotExpanded(t *testing.T) { // G38
	g := guarded(t)
	d := g.Decide(request("GET", "/x/%7Benv.SECRET%7D", "Authorization", "Bearer {env.SECRET}"))
	if !d.Allowed || d.Path != "" {
		t.Fatalf("%+v", d)
	}
	if d = g.Decide(request("GET", "/admin", "Authorization", "Bearer {env.SECRET}")); d.Status != 400 {
		t.Fatalf("%+v", d)
	}
}

func TestRefusalRepeatsNoClientInput(t *testing.T) { // H14
	g := build(t, nil)
	const canary = "c4n4ry"
	for _, target := range []string{"/c4n4ry", "/c4n4ry/..", "/articles?access_token=c4n4ry", "/articles/c4n4ry", "/c4n4ry%5c"} {
		for _, auth := range []string{"", "Bearer c4n4ry", "Bearer c4n4ry c4n4ry", "c4n4ry x"} {
			r := request("GET", target, "Authorization", auth)
			d := g.Decide(r)
			h := http.Header{}
			d.SetHeader(h)
			for _, said := range []string{d.Code, d.Message, strings.Join(h["Www-Authenticate"], " ")} {
				if strings.Contains(said, canary) {
					t.Errorf("%s %s: %q", target, auth, said)
				}
			}
		}
	}
}

func TestDecisionDoesNotModifyTheRequest(t *testing.T) {
	g := build(t, func(c *Config) { c.CORS = []string{reader} })
	r := request("GET", "/%61rticles/x?a=b", "Authorization", "Bearer read", "Origin", reader)
	before := r.Clone(t.Context())
	d := g.Decide(r)
	g.CORS(r)
	if diff := cmp.Diff(before.Header, r.Header); diff != "" || r.URL.String() != before.URL.String() || d.Path != "/articles/x" {
		t.Fatal(diff, r.URL, d)
	}
}

func TestGuardServesInParallel(t *testing.T) {
	g, i := build(t, nil), identity(t, Headers{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				r := request("GET", "/articles/%61", "Authorization", "Bearer read", "X_Auth_Subject", "x", "Cookie", "gatehouse=1; a=2")
				d := g.Decide(r)
				if !d.Allowed {
					t.Errorf("%+v", d)
				}
				i.Strip(r)
				i.Apply(r, d.Access)
			}
		})
	}
	all.Wait()
}

func FuzzAuthorization(f *testing.F) {
	for _, s := range []string{"", "Bearer read", "bearer  both==", "Basic x", "Bearer", "Bearer a,b", ",", "\x00", "Bearer \t read"} {
		f.Add(s)
	}
	g := build(f, nil)
	f.Fuzz(func(t *testing.T, value string) {
		r := httptest.NewRequest("GET", "/articles", nil)
		r.Header["Authorization"] = []string{value}
		d := g.Decide(r)
		raw, kind := bearerToken(r.Header)
		fields := strings.Fields(value)
		if d.Allowed && (len(fields) != 2 || !strings.EqualFold(fields[0], "Bearer") || known()[fields[1]] == nil) {
			t.Fatalf("%q passes", value)
		}
		if kind == bearerCredentials && (raw == "" || strings.ContainsAny(raw, " ,\t\r\n\"")) {
			t.Fatalf("%q gives the token %q", value, raw)
		}
		if d.Status != 0 && d.Status != 400 && d.Status != 401 && d.Status != 403 && d.Status != 503 {
			t.Fatalf("%q: %d", value, d.Status)
		}
	})
}

func TestDecisionsAllocateLittle(t *testing.T) {
	g, i := build(t, nil), identity(t, Headers{})
	r := request("GET", "/articles/7", "Authorization", "Bearer read", "Accept", "*/*", "User-Agent", "x")
	if n := testing.AllocsPerRun(100, func() { g.Decide(r) }); n > 0 {
		t.Errorf("Decide: %v allocations", n)
	}
	plainRequest := request("GET", "/articles/7", "Accept", "*/*", "Cookie", "a=b", "Connection", "keep-alive")
	if n := testing.AllocsPerRun(100, func() { i.Strip(plainRequest) }); n > 0 {
		t.Errorf("Strip: %v allocations", n)
	}
	a := access(nil, "articles:read")
	if n := testing.AllocsPerRun(100, func() { i.Apply(plainRequest, a) }); n > 2 {
		t.Errorf("Apply: %v allocations", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	g := build(b, nil)
	r := request("GET", "/articles/7?page=2&limit=20", "Authorization", "Bearer read", "Accept", "*/*", "User-Agent", "x")
	b.ReportAllocs()
	for b.Loop() {
		if d := g.Decide(r); !d.Allowed {
			b.Fatal(d)
		}
	}
}

func BenchmarkStrip(b *testing.B) {
	i := identity(b, Headers{})
	r := request("GET", "/articles/7", "Accept", "*/*", "User-Agent", "x", "Accept-Encoding", "gzip", "Connection", "keep-alive", "Cookie", "a=b", "Accept-Language", "zh",
		"Referer", "https://reader.example/", "Origin", reader, "X-Request-Id", "7")
	b.ReportAllocs()
	for b.Loop() {
		i.Strip(r)
	}
}
