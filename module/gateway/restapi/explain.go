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

// Handlers keeps handlers that were read, by their configuration, for callers that ask about many
// requests. It is not safe for concurrent use.
type Handlers map[string]*REST

// read returns the handler of a configuration, which nothing is loaded from.
func (all Handlers) read(config []byte) (h *REST, err error) {
	if h = all[string(config)]; h != nil {
		return h, nil
	}
	h = new(REST)
	if err := json.Unmarshal(config, h); err != nil {
		return nil, err
	}
	names := version.Config{Vendor: h.Vendor, Now: time.Now}
	for _, v := range h.Versions {
		names.Versions = append(names.Versions, v.Version)
	}
	h.editions = make([]edition, len(h.Versions))
	if h.versions, err = version.New(names); err == nil && all != nil {
		all[string(config)] = h
	}
	return h, err
}

// Explain says which declared operation answers a request. path is escaped. handlers may be nil.
func Explain(handlers Handlers, config []byte, method, path string) (Explanation, error) {
	h, err := handlers.read(config)
	if err != nil {
		return Explanation{}, err
	}
	ends := len(h.Upstream) > 0
	choice, refused := h.versions.Negotiate(path, nil)
	if refused != nil {
		return Explanation{Text: "api_rest refuses it: " + refused.Error(), Ends: true}, nil
	}
	e, resources := h.editionOf(choice), h.Resources
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
	if e.table == nil {
		if e.table, err = routes.New(resources); err != nil {
			return Explanation{}, err
		}
	}
	m, declared, refused := e.table.Match(method, choice.Path)
	switch {
	case !declared && (e.table.Empty() || h.Undeclared == "pass"):
		return Explanation{Text: "api_rest declares nothing there and lets it pass", Ends: ends}, nil
	case refused != nil:
		return Explanation{Text: "api_rest refuses it: " + refused.Error(), Ends: true}, nil
	case m.Operation == nil:
		return Explanation{Text: "api_rest answers OPTIONS: " + m.Allow, Ends: true}, nil
	}
	o := m.Operation
	return Explanation{fmt.Sprintf("api_rest takes it for %s of resource %s: %s %s", o.Kind, o.Resource.Path, o.Method, o.Path), ends, true, false}, nil
}
