package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// adminCall is one request to the admin API, under the configuration that runs.
type adminCall struct {
	*App
	w     http.ResponseWriter
	r     *http.Request
	names []string // the variable segments of the path, decoded
}

// adminHandle does what a call asks for. What it answers is a success; a refusal is an
// error made with fail, every other error a technical one.
type adminHandle func(*adminCall) (adminAnswer, error)

// adminRoute is one path and its methods. A segment "*" stands for any name.
type adminRoute struct {
	path   string
	handle map[string]adminHandle
}

// adminRoutes are tried in order, so that `keys/rotate` is no KID.
var adminRoutes = []adminRoute{
	{"clients", map[string]adminHandle{"GET": listClients, "POST": createClient}},
	{"clients/*", map[string]adminHandle{"GET": getClient, "PATCH": updateClient, "DELETE": deleteClient}},
	{"clients/*/rotate-secret", map[string]adminHandle{"POST": rotateClientSecret}},
	{"doctor", map[string]adminHandle{"GET": examine}},
	{"keys", map[string]adminHandle{"GET": listKeys}},
	{"keys/rotate", map[string]adminHandle{"POST": rotateKeys}},
	{"keys/*", map[string]adminHandle{"DELETE": revokeKey}},
	{"ready", map[string]adminHandle{"GET": getReadiness}},
	{"tokens/inspect", map[string]adminHandle{"POST": inspectToken}},
	{"users", map[string]adminHandle{"GET": listUsers, "POST": createUser}},
	{"users/*", map[string]adminHandle{"GET": getUser, "PATCH": updateUser, "DELETE": deleteUser}},
	{"users/*/lock", map[string]adminHandle{"POST": setLocked(true)}},
	{"users/*/unlock", map[string]adminHandle{"POST": setLocked(false)}},
	{"users/*/password", map[string]adminHandle{"POST": setPassword}},
	{"users/*/grants", map[string]adminHandle{"GET": listGrants, "DELETE": revokeGrants}},
	{"users/*/grants/*", map[string]adminHandle{"DELETE": revokeGrant}},
}

func findAdminRoute(escaped string) (*adminRoute, []string) {
	sent := strings.Split(strings.TrimPrefix(escaped, adminapi.Base), "/")
	for i := range adminRoutes {
		if names, ok := adminRoutes[i].match(sent); ok {
			return &adminRoutes[i], names
		}
	}
	return nil, nil
}

// match takes the segments as they were escaped: a client_id may contain a slash.
func (rt *adminRoute) match(sent []string) (names []string, ok bool) {
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
		if err != nil || name == "" || len(name) > maxAdminName {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// maxAdminName bounds what is looked up, in bytes.
const maxAdminName = 512

func (rt *adminRoute) allow() string {
	var methods []string
	for m := range rt.handle {
		methods = append(methods, m)
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}
