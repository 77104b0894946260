package jobs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// users is the site with an application that many people use.
func users(job string, more ...string) string {
	return strings.Replace(with(job, more...), "\t\tclient two {", `		users file $DIR/users.json
		client app {
			secret app-secret-0123456789-0123456789-0123456789
			deprecated_grant password until 2099-12-31
			scopes imports
		}
		client two {`, 1)
}

const body = `job import-jobs {
	upstream POST /import
	$MORE
}`

func (r *rig) writeUsers(locked string) {
	r.t.Helper()
	var all []string
	for _, name := range []string{"alice", "bob"} {
		all = append(all, fmt.Sprintf(`{"id":"u-%s","username":"%[1]s","locked":%t,"password_hash":"%s"}`, name, name == locked, harness.PasswordHash))
	}
	r.WriteFile(r.t, "users.json", `{"users":[`+strings.Join(all, ",")+`]}`)
}

// signIn makes the tokens of the application, for do.
func (r *rig) signIn(names ...string) {
	r.t.Helper()
	for _, name := range names {
		p := r.Token(r.t, harness.Credentials{ID: "app", Secret: "app-secret-0123456789-0123456789-0123456789"},
			url.Values{"grant_type": {"password"}, "username": {name}, "password": {harness.Password}, "scope": {"imports"}})
		if r.tokens[name], _ = p.JSON(r.t)["access_token"].(string); r.tokens[name] == "" {
			r.t.Fatalf("%d %s", p.Status, p.Body)
		}
	}
}

// signOut signs a user out everywhere.
func (r *rig) signOut(name string) {
	r.t.Helper()
	r.admin(http.MethodDelete, "/gatehouse/users/u-"+name+"/grants", "", 204)
}

// A job that waits when its user is signed out everywhere, or locked, is not run.
func TestWaitingJobsEndWithTheirUser(t *testing.T) {
	r := prepare(t)
	r.writeUsers("")
	r.Start(t, users(body, "workers 1"))
	r.signIn("alice", "bob")
	r.upstream.hold()
	made := map[string]string{}
	for i, who := range []string{"one", "alice", "bob", "two"} {
		p := r.do(who, http.MethodPost, "/import-jobs", fmt.Sprintf(`{"n":%d}`, i))
		read(t, p, 202)
		made[who] = p.Header.Get("Location")
	}
	r.upstream.awaitArrivals(t, 1)
	r.signOut("alice")
	r.writeUsers("bob")
	for end := time.Now().Add(20 * time.Second); r.do("bob", http.MethodGet, made["bob"], "").Status != 401; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a locked user's token is accepted")
		}
	}
	r.upstream.release()
	r.await("two", made["two"], "succeeded")
	r.await("one", made["one"], "succeeded")
	for _, a := range r.upstream.arrivals() {
		if subject := a.header.Get("X-Auth-Subject"); strings.HasPrefix(subject, "u-") {
			t.Errorf("a job of %s was run", subject)
		}
	}
	r.signIn("alice")
	if s := r.await("alice", made["alice"], "failed"); s.Error == nil || s.Error.Code != "access_ended" {
		t.Errorf("%+v", s)
	}
}

// One user of an application does not keep the others from making jobs.
func TestOneUserCannotTakeAllPlacesOfAClient(t *testing.T) {
	r := prepare(t)
	r.writeUsers("")
	r.Start(t, users(body, "per_client 4"))
	r.signIn("alice", "bob")
	r.upstream.hold()
	for i, want := range []int{202, 202, 429} {
		if p := r.do("alice", http.MethodPost, "/import-jobs", "{}"); p.Status != want {
			t.Errorf("job %d of one user: %d %s", i, p.Status, p.Body)
		}
	}
	if p := r.do("bob", http.MethodPost, "/import-jobs", "{}"); p.Status != 202 {
		t.Errorf("another user: %d %s", p.Status, p.Body)
	}
	for i, want := range []int{202, 202, 202, 202, 429} {
		if p := r.do("one", http.MethodPost, "/import-jobs", "{}"); p.Status != want {
			t.Errorf("job %d of a client: %d %s", i, p.Status, p.Body)
		}
	}
}

// A job whose user is signed out everywhere while the file's server keeps it waiting does not reach the API.
func TestJobsEndWithTheirUserWhileTheFileIsAwaited(t *testing.T) {
	r := prepare(t)
	r.writeUsers("")
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	files := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-answer
		_, _ = w.Write([]byte("a,b\n"))
	}))
	t.Cleanup(files.Close)
	r.Start(t, users(imports))
	r.signIn("alice")
	at := r.submit("alice", files.URL+"/f.csv")
	<-asked
	r.signOut("alice")
	close(answer)
	r.signIn("alice")
	if s := r.await("alice", at); s.State != "failed" || s.Error == nil || s.Error.Code != "access_ended" {
		t.Errorf("%+v %+v", s, s.Error)
	}
	if came := r.upstream.arrivals(); len(came) > 0 {
		t.Errorf("the API got %d requests", len(came))
	}
}
