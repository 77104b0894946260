package http

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/goleak"
	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// legacy is a login endpoint as older programs have them: a form or an object in, an
// object about the user out.
func legacy(t testing.TB, users ...directorytest.Seed) *httptest.Server {
	t.Helper()
	byID, byName := map[string]directorytest.Seed{}, map[string]directorytest.Seed{}
	for _, u := range users {
		byID[u.ID], byName[norm.NFC.String(u.Username)] = u, u
	}
	tell := func(w http.ResponseWriter, u directorytest.Seed) {
		_ = json.NewEncoder(w).Encode(map[string]any{"user": map[string]any{
			"id": u.ID, "login": u.Username, "name": u.Name, "nick": u.Nickname, "avatar": u.Picture, "mail": u.Email,
			"phone": u.Phone, "locked": u.Locked, "department": u.Claims["department"],
		}})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		name, password := r.PostFormValue("login"), r.PostFormValue("secret")
		if r.Header.Get("Content-Type") == "application/json" {
			var in map[string]string
			if json.NewDecoder(r.Body).Decode(&in) != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			name, password = in["login"], in["secret"]
		}
		u, ok := byName[name]
		if !ok || password != u.Password || r.Header.Get("X-Key") != "legacy-key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		tell(w, u)
	})
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		u, ok := byID[r.PathValue("id")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		tell(w, u)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func source(t testing.TB, base string) *Source {
	t.Helper()
	t.Setenv("LEGACY_KEY", "legacy-key")
	return &Source{
		URL: base + "/login", UsernameField: "login", PasswordField: "secret", Lookup: base + "/users/{id}",
		Fields: map[string]string{
			"id": "/user/id", "username": "/user/login", "name": "/user/name", "nickname": "/user/nick",
			"picture": "/user/avatar", "email": "/user/mail", "phone": "/user/phone", "locked": "/user/locked",
		},
		Claims:  map[string]string{"department": "/user/department"},
		Headers: map[string]string{"X-Key": "{env.LEGACY_KEY}"},
	}
}

func opened(t testing.TB, src *Source) *dir {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	if err := src.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	d := openDirectory(src.settings)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func seed(id, username, password string) directorytest.Seed {
	return directorytest.Seed{User: directory.User{ID: id, Username: username}, Password: password}
}

func TestHTTPEndpointMeetsTheDirectoryContract(t *testing.T) {
	for _, as := range []string{"form", "json"} {
		t.Run(as, func(t *testing.T) {
			directorytest.Run(t, func(t *testing.T, users []directorytest.Seed) directory.Directory {
				src := source(t, legacy(t, users...).URL)
				src.As = as
				return opened(t, src)
			})
		})
	}
}

// endpoint answers as a test says and keeps what it was sent.
type endpoint struct {
	*httptest.Server
	answer atomic.Pointer[func(http.ResponseWriter, *http.Request)]
	hits   atomic.Int64
}

func newEndpoint(t testing.TB) *endpoint {
	t.Helper()
	e := new(endpoint)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.hits.Add(1)
		(*e.answer.Load())(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) says(status int, body string) {
	answer := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
	e.answer.Store(&answer)
}

func TestAmbiguousDirectoryAnswerIsAnError(t *testing.T) {
	e := newEndpoint(t)
	d := opened(t, &Source{URL: e.URL, Lookup: e.URL + "/{id}", MaxBody: 1000})
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"a server's error":            {500, ""},
		"away":                        {503, ""},
		"too many":                    {429, ""},
		"created":                     {201, `{"id":"1"}`},
		"no content":                  {204, ""},
		"not found":                   {404, ""},
		"a page":                      {200, "<html>Welcome</html>"},
		"nothing":                     {200, ""},
		"two documents":               {200, `{"id":"1"}{"id":"2"}`},
		"no id":                       {200, `{"name":"Ann"}`},
		"an id that nobody can have":  {200, `{"id":"a b"}`},
		"a client's id":               {200, `{"id":"client:x"}`},
		"an object for an id":         {200, `{"id":{"x":1}}`},
		"null":                        {200, `null`},
		"a list":                      {200, `[{"id":"1"}]`},
		"no UTF-8":                    {200, "{\"id\":\"1\",\"name\":\"\xff\"}"},
		"an answer that is too long":  {200, `{"id":"1","x":"` + strings.Repeat("x", 1000) + `"}`},
		"a refusal that is too long":  {401, strings.Repeat("x", 1001)},
		"a document that never ends":  {200, strings.Repeat(`{"a":`, 190)},
		"an id and a lock of another": {200, `{"id":`},
	} {
		e.says(c.status, c.body)
		u, ok, err := d.Authenticate(t.Context(), "zoe-1", "hush-hush")
		if ok || err == nil || u.ID != "" {
			t.Errorf("%s: %+v, %t, %v", name, u, ok, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "zoe")) {
			t.Errorf("%s: the error tells too much: %v", name, err)
		}
	}
	e.says(401, "")
	if _, ok, err := d.Lookup(t.Context(), "1"); ok || err == nil {
		t.Errorf("a look-up that is not allowed: %t, %v", ok, err)
	}
	e.says(200, `{"id":"2"}`)
	if _, ok, err := d.Lookup(t.Context(), "1"); ok || err == nil {
		t.Errorf("an answer about another user: %t, %v", ok, err)
	}
	e.says(410, "")
	if _, ok, err := d.Lookup(t.Context(), "1"); ok || err != nil {
		t.Errorf("gone: %t, %v", ok, err)
	}
	for _, status := range []int{401, 403} {
		e.says(status, "no")
		if _, ok, err := d.Authenticate(t.Context(), "ann", "x"); ok || err != nil {
			t.Errorf("%d: %t, %v", status, ok, err)
		}
	}
	e.says(200, `{"id":12345678901234567}`)
	if u, ok, err := d.Authenticate(t.Context(), "ann", "x"); !ok || err != nil || u.ID != "12345678901234567" || u.Username != "ann" {
		t.Errorf("a number for an id: %+v, %t, %v", u, ok, err)
	}
}

func TestUserIDIsLearnedFromAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		status       int
		body         string
		told, learnt string // the ID in the refusal, and what Identify knows afterwards
	}{
		"a success":                     {200, `{"id":7}`, "", "7"},
		"a refusal with an id":          {401, `{"id":7}`, "7", "7"},
		"a refusal by content":          {200, `{"code":1001,"id":"7"}`, "7", "7"},
		"a locked user":                 {200, `{"id":"7","locked":true}`, "7", "7"},
		"a refusal with null":           {401, `{"id":null}`, "", ""},
		"a refusal without an id":       {403, `{}`, "", ""},
		"a refusal that is no JSON":     {401, `no`, "", ""},
		"a refusal with an object":      {401, `{"id":{}}`, "", ""},
		"an id that no user may have":   {401, `{"id":"client:web"}`, "", ""},
		"a fault (the status is other)": {500, `{"id":7}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t)
			e.says(c.status, c.body)
			d := opened(t, &Source{URL: e.URL, RefusedID: "/id", Fields: map[string]string{"locked": "/locked"}, RefusedWhen: &Condition{"/code", []string{"1001"}}})
			if id, known, err := d.Identify(t.Context(), "ann"); id != "" || known || err != nil {
				t.Errorf("before: %q, %t, %v", id, known, err)
			}
			u, ok, err := d.Authenticate(t.Context(), "ann", "x")
			if !ok && u.ID != c.told || (err != nil) != (c.status == 500) {
				t.Errorf("Authenticate = %+v, %t, %v", u, ok, err)
			}
			for _, typed := range []string{"ann", "ANN"} {
				if id, known, err := d.Identify(t.Context(), typed); id != c.learnt || known != (c.learnt != "" && typed == "ann") || err != nil {
					t.Errorf("Identify(%s) = %q, %t, %v", typed, id, known, err)
				}
			}
		})
	}
	t.Run("without refused_id a refusal tells nothing", func(t *testing.T) {
		e := newEndpoint(t)
		e.says(401, `{"id":7}`)
		d := opened(t, &Source{URL: e.URL})
		if u, ok, err := d.Authenticate(t.Context(), "ann", "x"); u.ID != "" || ok || err != nil {
			t.Errorf("Authenticate = %+v, %t, %v", u, ok, err)
		}
	})
}

func TestNameCacheIsLimited(t *testing.T) {
	n := newNames()
	for i := range 2 * maxNames {
		n.rememberName(fmt.Sprint("user", i), "7")
	}
	n.ids.CleanUp()
	if size := n.ids.EstimatedSize(); size > maxNames {
		t.Errorf("%d names are remembered, at most %d may be", size, maxNames)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := newEndpoint(t)
	elsewhere.says(200, `{"id":"1"}`)
	e := newEndpoint(t)
	d := opened(t, &Source{URL: e.URL, Lookup: e.URL + "/{id}"})
	for _, status := range []int{301, 302, 303, 307, 308} {
		answer := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(status)
		}
		e.answer.Store(&answer)
		if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil {
			t.Errorf("%d: %t, %v", status, ok, err)
		}
		if _, ok, err := d.Lookup(t.Context(), "1"); ok || err == nil {
			t.Errorf("%d: %t, %v", status, ok, err)
		}
	}
	if n := elsewhere.hits.Load(); n != 0 {
		t.Errorf("%d requests went where nobody configured", n)
	}
}

func TestImpossibleCredentialsAreNotSent(t *testing.T) {
	e := newEndpoint(t)
	e.says(200, `{"id":"1"}`)
	d := opened(t, &Source{URL: e.URL, Lookup: e.URL + "/{id}"})
	for _, c := range [][2]string{{"ann", ""}, {"", "x"}, {" ann", "x"}, {"ann\r\nX: y", "x"}, {"ann\xff", "x"}, {"ann", "x\xff"}, {"ann", strings.Repeat("x", 1025)}} {
		if _, ok, err := d.Authenticate(t.Context(), c[0], c[1]); ok || err != nil {
			t.Errorf("%q: %t, %v", c, ok, err)
		}
	}
	for _, id := range []string{"", ".", "..", "a b", "client:x", "a\x00"} {
		if _, ok, err := d.Lookup(t.Context(), id); ok || err != nil {
			t.Errorf("%q: %t, %v", id, ok, err)
		}
	}
	if n := e.hits.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestIDIsEscapedInTheLookupURL(t *testing.T) {
	e := newEndpoint(t)
	var seen string
	answer := func(w http.ResponseWriter, r *http.Request) {
		seen = r.RequestURI
		w.WriteHeader(404)
	}
	e.answer.Store(&answer)
	d := opened(t, &Source{URL: e.URL, Lookup: e.URL + "/users/{id}/full?who={id}&all=1"})
	for id, want := range map[string]string{
		"a/../b":  "/users/a%2F..%2Fb/full?who=a%2F..%2Fb&all=1",
		"a?x=1#y": "/users/a%3Fx%3D1%23y/full?who=a%3Fx%3D1%23y&all=1",
		"a&all=2": "/users/a%26all%3D2/full?who=a%26all%3D2&all=1",
		"a+b%2F":  "/users/a%2Bb%252F/full?who=a%2Bb%252F&all=1",
		"u-1":     "/users/u-1/full?who=u-1&all=1",
		"{id}":    "/users/%7Bid%7D/full?who=%7Bid%7D&all=1",
	} {
		if _, ok, err := d.Lookup(t.Context(), id); ok || err != nil || seen != want {
			t.Errorf("%q: asked for %s, want %s (%t, %v)", id, seen, want, ok, err)
		}
	}
}

func TestHTTPDirectoryAnswering200IsReadByContent(t *testing.T) {
	e := newEndpoint(t)
	d := opened(t, &Source{
		URL: e.URL, Lookup: e.URL + "/{id}", Fields: map[string]string{"id": "/data/0/id"},
		OKWhen: &Condition{"/code", []string{"0"}}, RefusedWhen: &Condition{"/code", []string{"1001", "locked"}},
	})
	for body, want := range map[string]struct{ ok, fails bool }{
		`{"code":0,"data":[{"id":"1"}]}`:      {true, false},
		`{"code":"0","data":[{"id":"1"}]}`:    {true, false},
		`{"code":1001,"data":[{"id":"1"}]}`:   {false, false},
		`{"code":"locked"}`:                   {false, false},
		`{"code":500,"data":[{"id":"1"}]}`:    {false, true},
		`{"data":[{"id":"1"}]}`:               {false, true},
		`{"code":[0],"data":[{"id":"1"}]}`:    {false, true},
		`{"code":0,"data":[]}`:                {false, true},
		`{"code":0.0,"data":[{"id":"1"}]}`:    {false, true},
		`{"code":null,"data":[{"id":"1"}]}`:   {false, true},
		`{"code":false,"data":[{"id":"1"}]}`:  {false, true},
		`{"Code":0,"data":[{"id":"1"}]}`:      {false, true},
		`{"code":0,"data":{"0":{"id":"1"}}}`:  {true, false},
		`{"code":0,"data":{"00":{"id":"1"}}}`: {false, true},
	} {
		e.says(200, body)
		for name, ask := range map[string]func() (directory.User, bool, error){
			"Authenticate": func() (directory.User, bool, error) { return d.Authenticate(t.Context(), "ann", "x") },
			"Lookup":       func() (directory.User, bool, error) { return d.Lookup(t.Context(), "1") },
		} {
			if u, ok, err := ask(); ok != want.ok || (err != nil) != want.fails || ok && u.ID != "1" {
				t.Errorf("%s of %s: %+v, %t, %v", name, body, u, ok, err)
			}
		}
	}
}

func TestWithoutLookupTheLastSignInIsRemembered(t *testing.T) {
	u := seed("u-1", "ann", "secret")
	u.Name, u.Claims = "Ann", map[string]any{"department": "press"}
	locked := seed("u-2", "lars", "secret")
	locked.Locked = true
	src := source(t, legacy(t, u, locked).URL)
	src.Lookup = ""
	d := opened(t, src)
	look := func(id string) directory.User {
		t.Helper()
		u, ok, err := d.Lookup(t.Context(), id)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		return u
	}
	if got := look("u-1"); got.Username != "u-1" || got.Name != "" {
		t.Errorf("before the first sign-in: %+v", got)
	}
	if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	got := look("u-1")
	if got.Username != "ann" || got.Name != "Ann" || got.Claims["department"] != "press" {
		t.Errorf("afterwards: %+v", got)
	}
	got.Claims["department"] = "changed by its caller"
	if again := look("u-1"); again.Claims["department"] != "press" {
		t.Error("the memory is its callers'")
	}
	if _, ok, err := d.Authenticate(t.Context(), "lars", "secret"); ok || err != nil {
		t.Fatal(ok, err)
	}
	if !look("u-2").Locked {
		t.Error("that a user is locked was forgotten")
	}
	if _, ok, _ := d.Lookup(t.Context(), "client:x"); ok {
		t.Error("an application is a user")
	}
}

func TestUserCacheIsLimited(t *testing.T) {
	m := newMemory()
	for i := range memorySize / 8 {
		m.rememberUser(directory.User{ID: fmt.Sprint(i)}, mostBody)
	}
	m.users.CleanUp()
	if n := m.users.WeightedSize(); n > memorySize {
		t.Errorf("it holds %d units, more than %d", n, memorySize)
	}
}

func TestHangingHTTPDirectoryTimesOut(t *testing.T) {
	e := newEndpoint(t)
	release := make(chan struct{})
	answer := func(http.ResponseWriter, *http.Request) { <-release }
	e.answer.Store(&answer)
	d := opened(t, &Source{URL: e.URL})
	d.s.timeout = 100 * time.Millisecond
	begun := time.Now()
	if _, ok, err := d.Authenticate(t.Context(), "ann", "x"); ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Authenticate = %t, %v", ok, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.Authenticate(ctx, "ann", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	close(release)
	e.Close()
	if _, ok, err := d.Authenticate(t.Context(), "ann", "x"); ok || err == nil {
		t.Errorf("away: %t, %v", ok, err)
	}
}

func TestEndpointCertificateIsVerified(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"id":"`+r.Host+`"}`)
	}))
	s.Config.ErrorLog = nil
	defer s.Close()
	if _, ok, err := opened(t, &Source{URL: s.URL}).Authenticate(t.Context(), "ann", "x"); ok || err == nil {
		t.Errorf("a certificate of nobody known: %t, %v", ok, err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	d := opened(t, &Source{URL: s.URL, CA: ca, Headers: map[string]string{"host": "legacy.example"}})
	if u, ok, err := d.Authenticate(t.Context(), "ann", "x"); !ok || err != nil || u.ID != "legacy.example" {
		t.Errorf("%+v, %t, %v", u, ok, err)
	}
}

func TestManySignInsShareConnections(t *testing.T) {
	src := source(t, legacy(t, seed("1", "ann", "secret")).URL)
	d := opened(t, src)
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); !ok || err != nil {
				t.Error(ok, err)
			}
		})
	}
	group.Wait()
}
