package translate

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// users is a resource with operations of all kinds, the account one without items.
var users = resource.Resource{
	Path: "users", Drop: []string{"pin"}, Rename: map[string]string{"id": "n"}, Off: []string{"deleted"},
	Routes: []resource.Route{
		{Method: "GET", Path: "/users/{id}", Upstream: "/users/{id}"}, {Method: "GET", Path: "/users/{id}/mail", Upstream: "/users/{id}/mail"},
		{Method: "POST", Path: "/users", Upstream: "/users"}, {Method: "PUT", Path: "/users/{id}", Upstream: "/users/{id}"},
		{Method: "PATCH", Path: "/users/{id}", Upstream: "/users/{id}"}, {Method: "DELETE", Path: "/users/{id}", Upstream: "/users/{id}"},
		{Method: "POST", Path: "/users/{id}/lock", Upstream: "/users/{id}/lock"},
	},
}

var account = func() resource.Resource {
	r := users
	r.Path, r.Routes = "account", []resource.Route{{Method: "GET", Path: "/account", Upstream: "/account"}, {Method: "POST", Path: "/account", Upstream: "/account"}}
	return r
}()

// The words are about the resource. Where the answer has it further inside, it does not pass with what is dropped.
func TestWrappedAnswerDoesNotPassUnedited(t *testing.T) {
	const user = `{"n":1,"pin":"hidden"}`
	operations := []string{"GET /account", "POST /account", "GET /users/1", "GET /users/1/mail", "POST /users", "PUT /users/1", "PATCH /users/1", "DELETE /users/1", "POST /users/1/lock"}
	header := map[string]string{"Content-Type": "application/json"}
	through := func(r resource.Resource, operation, body string, chunk int) got {
		method, path, _ := strings.Cut(operation, " ")
		if r.Path == "users" && path == "/account" {
			r = account
		}
		g := through(Config{Answer: answerTo(t, r, method, path)}, 200, header, body, chunk)
		g.w.Settle()
		return g
	}
	status := map[string]int{"POST /users": http.StatusCreated, "POST /account": http.StatusCreated}
	long := `"x":"` + strings.Repeat("x", holdCreated) + `",`
	for _, body := range []string{
		`{"data":` + user + `}`, `{"data":[` + user + `],"total":1}`, `{"data":{"type":"users","attributes":` + user + `}}`, `{"type":"users","attributes":{"pin":"hidden"}}`,
		`{"status":"ok","n":7,"result":` + user + `}`, `{"users":{"1":` + user + `}}`, `{"data":{"n":1}}`,
		`{` + long + `"data":` + user + `}`, `{"data":{"pin":"hidden",` + long + `"y":1}}`, `{"data":{"pin":"hidden",` + long[:len(long)/2] + `","y":1}}`,
	} {
		for _, operation := range operations {
			for _, chunk := range []int{0, 1, 1000} {
				if chunk == 1 && len(body) > hold {
					continue
				}
				g := through(users, operation, body, chunk)
				reads := strings.HasPrefix(operation, "GET")
				if strings.Contains(g.Body.String(), "hidden") {
					t.Errorf("%s: %.100s", operation, g.Body)
				}
				if len(body) > holdCreated && strings.HasPrefix(body, `{"x"`) {
					continue // it is broken off
				}
				want := status[operation]
				if want == 0 {
					want = http.StatusNoContent
				}
				if reads && (g.failure == nil || g.failure.Kind != Missing || g.w.Committed() || !strings.Contains(g.failure.Error(), "write item")) ||
					!reads && (g.failure != nil || g.Code != want || g.Body.Len() > 0) {
					t.Errorf("%s %.100s in pieces of %d: %v %d %.100s", operation, body, chunk, g.failure, g.Code, g.Body)
				}
			}
		}
	}
	failed := `{"success":false,"data":` + user + `}`
	for _, operation := range operations {
		if g := through(users, operation, failed, 0); g.failure == nil || g.w.Committed() {
			t.Errorf("%s: a failure: %v %d %s", operation, g.failure, g.Code, g.Body)
		}
	}
	// What is edited where it is declared may have members of these names further inside, in any order.
	long = long[:hold]
	for body, want := range map[string]string{
		`{"author":{"n":2},"n":1}`:                             `{"author":{"n":2},"id":1}`,
		`{"author":{"n":2,"pin":3},"n":1,"pin":2}`:             `{"author":{"n":2,"pin":3},"id":1}`,
		`{"n":1,"author":{"n":2},"items":[{"n":3}],"total":1}`: `{"id":1,"author":{"n":2},"items":[{"n":3}],"total":1}`,
		`{"author":{"n":2},` + long + `","n":1}`:               `{"author":{"n":2},` + long + `","id":1}`,
		`{"name":"x","owner":{"name":"y"}}`:                    `{"name":"x","owner":{"name":"y"}}`,
	} {
		for _, operation := range operations {
			if g := through(users, operation, body, 1000); g.failure != nil || g.Body.String() != want {
				t.Errorf("%s: %v %d %.100s", operation, g.failure, g.Code, g.Body)
			}
		}
	}
	// Nor is anything refused where it is declared that the answer is the resource.
	whole := users
	whole.ItemOf = map[resource.Kind]string{resource.Read: ""}
	if g := through(whole, "GET /users/1", `{"manager":{"pin":1}}`, 0); g.failure != nil || g.Body.String() != `{"manager":{"pin":1}}` {
		t.Errorf("%v %s", g.failure, g.Body)
	}
}

// JSON:API has the members of each element of a list in `attributes`.
func TestWrappedElementsDoNotPassUnedited(t *testing.T) {
	r := resource.Resource{Path: "things", Drop: []string{"pin"}}
	element := `{"id":"1","attributes":{"pin":"hidden"}}`
	for _, body := range []string{`[` + element + `]`, `{"data":[` + element + `],"total":1}`, `{"data":[` + element + `],"meta":{}}`} {
		g := through(Config{Answer: answerTo(t, r, "GET", "/things")}, 200, map[string]string{"Content-Type": "application/json"}, body, 0)
		if g.failure == nil || g.failure.Kind != Missing || g.w.Committed() {
			t.Errorf("%s: %v %s", body, g.failure, g.Body)
		}
	}
}
