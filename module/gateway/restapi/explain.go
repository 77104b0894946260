package restapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/jobapi"
	"github.com/gatehouse/gatehouse/module/internal/rest/openapi"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/version"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Explanation is what becomes of a request.
type Explanation struct {
	Text string
	// Ends says that nothing behind the handler sees the request.
	Ends bool
	// Declared says that a resource or a job answers it.
	Declared bool
	// Own says that the handler answers by itself, and no upstream while the client waits.
	Own bool
}

// Tables keeps the tables of resources that were compiled, for who asks about many requests
// of one configuration: doctor asks about hundreds. It is not safe for concurrent use.
type Tables map[string]*routes.Table

// table compiles the resources of one version of a handler, once.
func (t Tables) table(config []byte, version int, resources []resource.Resource) (*routes.Table, error) {
	key := fmt.Sprint(version, " ", string(config))
	if table, ok := t[key]; ok {
		return table, nil
	}
	table, err := routes.New(resources)
	if err == nil && t != nil {
		t[key] = table
	}
	return table, err
}

// Explain says which declared operation answers a request. path is escaped. config is the
// handler's, which nothing is loaded from. tables may be nil.
func Explain(tables Tables, config []byte, method, path string) (Explanation, error) {
	h := new(REST)
	if err := json.Unmarshal(config, h); err != nil {
		return Explanation{}, err
	}
	ends := len(h.Upstream) > 0
	resources := h.Resources
	names := version.Config{Vendor: h.Vendor, Now: time.Now}
	for _, v := range h.Versions {
		names.Versions = append(names.Versions, v.Version)
	}
	versions, err := version.New(names)
	if err != nil {
		return Explanation{}, err
	}
	choice, refused := versions.Negotiate(path, nil)
	if refused != nil {
		return Explanation{Text: "api_rest refuses it: " + refused.Error(), Ends: true}, nil
	}
	if choice.Index >= 0 {
		v := &h.Versions[choice.Index]
		resources, ends = v.resources(h.Resources), ends || len(v.Upstream) > 0
	}
	for _, j := range h.Jobs {
		if at := "/" + strings.Trim(j.Path, "/"); choice.Path == at && method == "POST" {
			return Explanation{"api_rest makes a job of it: job " + j.Path, true, true, true}, nil
		}
	}
	if len(h.Jobs) > 0 && strings.HasPrefix(choice.Path, jobapi.Path) {
		return Explanation{"api_rest answers for a job", true, true, true}, nil
	}
	if h.OpenAPI != nil && (choice.Path == openapi.DocumentPath || choice.Path == openapi.PagePath) {
		return Explanation{Text: "api_rest describes the API", Ends: true, Own: true}, nil
	}
	table, err := tables.table(config, choice.Index, resources)
	if err != nil {
		return Explanation{}, err
	}
	m, declared, refused := table.Match(method, choice.Path)
	switch {
	case !declared && (table.Empty() || h.Undeclared == "pass"):
		return Explanation{Text: "api_rest declares nothing there and lets it pass", Ends: ends}, nil
	case refused != nil:
		return Explanation{Text: "api_rest refuses it: " + refused.Error(), Ends: true}, nil
	case m.Operation == nil:
		return Explanation{Text: "api_rest answers OPTIONS: " + m.Allow, Ends: true}, nil
	}
	o := m.Operation
	return Explanation{fmt.Sprintf("api_rest takes it for %s of resource %s: %s %s", o.Kind, o.Resource.Path, o.Method, o.Path), ends, true, false}, nil
}
