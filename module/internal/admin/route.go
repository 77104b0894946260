package admin

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// call is one request to the admin API, under the configuration that runs.
type call struct {
	*Config
	w     http.ResponseWriter
	r     *http.Request
	names []string // the variable segments of the path, decoded
}

// handle does what a call asks for. Its answer is a success; errors are a [refusal] or technical.
type handle func(*call) (answer, error)

// route is one path and its methods. A segment "*" stands for any name.
type route struct {
	path   string
	handle map[string]handle
}

// routes are tried in order, so that `keys/rotate` is no KID.
var routes = []route{
	{"clients", map[string]handle{"GET": listClients, "POST": createClient}},
	{"clients/*", map[string]handle{"GET": getClient, "PATCH": updateClient, "DELETE": deleteClient}},
	{"clients/*/rotate-secret", map[string]handle{"POST": rotateClientSecret}},
	{"doctor", map[string]handle{"GET": examine}},
	{"keys", map[string]handle{"GET": listKeys}},
	{"keys/rotate", map[string]handle{"POST": rotateKeys}},
	{"keys/*", map[string]handle{"DELETE": revokeKey}},
	{"ready", map[string]handle{"GET": getReadiness}},
	{"tokens/inspect", map[string]handle{"POST": inspectToken}},
	{"users", map[string]handle{"GET": listUsers, "POST": createUser}},
	{"users/*", map[string]handle{"GET": getUser, "PATCH": updateUser, "DELETE": deleteUser}},
	{"users/*/lock", map[string]handle{"POST": setLocked(true)}},
	{"users/*/unlock", map[string]handle{"POST": setLocked(false)}},
	{"users/*/password", map[string]handle{"POST": setPassword}},
	{"users/*/grants", map[string]handle{"GET": listGrants, "DELETE": revokeGrants}},
	{"users/*/grants/*", map[string]handle{"DELETE": revokeGrant}},
}

// Serve answers a request to the API. running returns what the configuration in force has, held
// until leave; it is called for known addresses only.
func Serve(w http.ResponseWriter, r *http.Request, log *slog.Logger, running func() (have *Config, leave func(), err error)) {
	path := r.URL.EscapedPath()
	if path == adminapi.ReadyPath {
		path = adminapi.Path("ready")
	}
	rt, names := findRoute(path)
	if rt == nil {
		WriteError(w, r, log, notFound("no such address; those of the gateway are described at the module admin.api.gatehouse"))
		return
	}
	handle, ok := rt.handle[r.Method]
	if !ok {
		w.Header().Set("Allow", rt.allow())
		WriteError(w, r, log, Refuse(http.StatusMethodNotAllowed, "method_not_allowed", "this address answers "+rt.allow()+" only"))
		return
	}
	have, leave, err := running()
	if err != nil {
		WriteError(w, r, log, err)
		return
	}
	defer leave()
	a, err := handle(&call{Config: have, w: w, r: r, names: names})
	if err != nil {
		WriteError(w, r, log, err)
		return
	}
	a.write(w)
}

func findRoute(escaped string) (*route, []string) {
	sent := strings.Split(strings.TrimPrefix(escaped, adminapi.Base), "/")
	for i := range routes {
		if names, ok := routes[i].match(sent); ok {
			return &routes[i], names
		}
	}
	return nil, nil
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

func (rt *route) allow() string {
	var methods []string
	for m := range rt.handle {
		methods = append(methods, m)
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}
