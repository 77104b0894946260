package admin

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/watch"
)

// call is one request to the admin API, under the configuration that runs.
type call struct {
	*Config
	w     http.ResponseWriter
	r     *http.Request
	names []string // the variable segments of the path, decoded
	query url.Values
	after string // where a list begins
	limit int    // of a list
}

// handle serves a call. It returns the body of a 200, a [reply], or nil for a 204. Errors are a
// [refusal] or technical.
type handle func(*call) (any, error)

// route is one method of a path. A segment "*" stands for any name.
type route struct {
	method, path string
	handle       handle
	query        []string // the parameters that it may have
}

// routes are tried in order, so that `keys/rotate` is no KID.
var routes = []route{
	{"GET", "backup", backUpStore, nil},
	{"GET", "clients", listClients, []string{"after", "limit"}},
	{"POST", "clients", withBody(createClient), nil},
	{"DELETE", "clients/*", deleteClient, nil},
	{"GET", "clients/*", getClient, nil},
	{"PATCH", "clients/*", updateClient, nil},
	{"POST", "clients/*/rotate-secret", withBody(rotateClientSecret), nil},
	{"POST", "compact", compactStore, nil},
	{"GET", "doctor", examine, nil},
	{"POST", "import/users", withBody(importUsers), nil}, // a user may be called import
	{"GET", "keys", listKeys, nil},
	{"POST", "keys/rotate", withBody(rotateKeys), nil},
	{"DELETE", "keys/*", revokeKey, nil},
	{"GET", "ready", getReadiness, nil},
	{"POST", "tokens/inspect", withBody(inspectToken), nil},
	{"GET", "users", listUsers, []string{"after", "limit"}},
	{"POST", "users", withBody(createUser), nil},
	{"DELETE", "users/*", deleteUser, []string{"by"}},
	{"GET", "users/*", getUser, []string{"by"}},
	{"PATCH", "users/*", editUser(updateUser), []string{"by"}},
	{"POST", "users/*/lock", editUser(lockUser), []string{"by"}},
	{"POST", "users/*/unlock", editUser(unlockUser), []string{"by"}},
	{"POST", "users/*/password", editUser(setPassword), []string{"by"}},
	{"DELETE", "users/*/grants", revokeGrants, []string{"by", "client"}},
	{"GET", "users/*/grants", listGrants, []string{"by", "after", "limit"}},
	{"DELETE", "users/*/grants/*", revokeGrant, []string{"by"}},
	{"GET", "watch", watchDecisions, watch.Parameters},
}

// Serve answers a request to the API. running returns what the configuration in force has, held
// until leave; it is called for known addresses only.
func Serve(w http.ResponseWriter, r *http.Request, log *slog.Logger, running func() (have *Config, leave func(), err error)) {
	rt, names, methods := findRoute(r.Method, r.URL.EscapedPath())
	var body any
	var err error
	switch allow := strings.Join(methods, ", "); {
	case methods == nil:
		err = notFound("no such address; those of the gateway are described at the module admin.api.gatehouse")
	case rt == nil:
		w.Header().Set("Allow", allow)
		err = Refuse(http.StatusMethodNotAllowed, "method_not_allowed", "this address answers "+allow+" only")
	default:
		var leave func()
		c := &call{w: w, r: r, names: names}
		if c.Config, leave, err = running(); err == nil {
			body, err = c.serve(rt)
			if s, ok := body.(*stream); ok {
				leave() // it may last for days, and needs nothing of the configuration
				s.write(w, r)
				return
			}
			defer leave()
		}
	}
	if err != nil {
		WriteError(w, r, log, err)
		return
	}
	writeReply(w, body)
}

func (c *call) serve(rt *route) (any, error) {
	if err := c.readQuery(rt.query); err != nil {
		return nil, err
	}
	body, err := rt.handle(c)
	return body, c.refusalOf(err)
}

// findRoute returns the route of a request, nil where its path has other methods only, and all
// methods of the path.
func findRoute(method, escaped string) (found *route, names, methods []string) {
	sent := strings.Split(strings.TrimPrefix(escaped, adminapi.Base), "/")
	path := ""
	for i, rt := range routes {
		segments, ok := rt.match(sent)
		if !ok || path != "" && path != rt.path {
			continue
		}
		path, names, methods = rt.path, segments, append(methods, rt.method)
		if rt.method == method {
			found = &routes[i]
		}
	}
	slices.Sort(methods)
	return found, names, methods
}

// match takes the segments as they were escaped: a client_id may contain a slash.
func (rt *route) match(sent []string) (names []string, ok bool) {
	want := strings.Split(rt.path, "/")
	if len(want) != len(sent) {
		return nil, false
	}
	for i, w := range want {
		if w != "*" {
			if w != sent[i] {
				return nil, false
			}
			continue
		}
		name, err := url.PathUnescape(sent[i])
		if err != nil || name == "" || len(name) > maxName {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// maxName bounds what is looked up, in bytes.
const maxName = 512
