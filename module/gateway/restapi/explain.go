package restapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/version"
)

// Explain says which declared operation answers a request, and whether the handler ends
// the chain. path is escaped. config is the handler's, which nothing is loaded from.
func Explain(config []byte, method, path string) (text string, ends bool, err error) {
	h := new(REST)
	if err := json.Unmarshal(config, h); err != nil {
		return "", false, err
	}
	ends = len(h.Upstream) > 0
	resources := h.Resources
	names := version.Config{Vendor: h.Vendor, Now: time.Now}
	for _, v := range h.Versions {
		names.Versions = append(names.Versions, v.Version)
	}
	versions, err := version.New(names)
	if err != nil {
		return "", false, err
	}
	choice, refused := versions.Negotiate(path, nil)
	if refused != nil {
		return "api_rest refuses it: " + refused.Error(), true, nil
	}
	if choice.Index >= 0 {
		v := &h.Versions[choice.Index]
		resources, ends = v.resources(h.Resources), ends || len(v.Upstream) > 0
	}
	for _, j := range h.Jobs {
		if at := "/" + strings.Trim(j.Path, "/"); choice.Path == at && method == "POST" {
			return "api_rest makes a job of it: job " + j.Path, true, nil
		}
	}
	if len(h.Jobs) > 0 && strings.HasPrefix(choice.Path, jobsPath) {
		return "api_rest answers for a job", true, nil
	}
	if h.OpenAPI != nil && (choice.Path == documentPath || choice.Path == pagePath) {
		return "api_rest describes the API", true, nil
	}
	table, err := resource.NewTable(resources)
	if err != nil {
		return "", false, err
	}
	m, declared, refused := table.Match(method, choice.Path)
	switch {
	case !declared && (table.Empty() || h.Undeclared == "pass"):
		return "api_rest declares nothing there and lets it pass", ends, nil
	case refused != nil:
		return "api_rest refuses it: " + refused.Error(), true, nil
	case m.Operation == nil:
		return "api_rest answers OPTIONS: " + m.Allow, true, nil
	}
	return fmt.Sprintf("api_rest takes it for %s of resource %s: %s %s", m.Operation.Kind, m.Operation.Resource.Path, m.Operation.Method, m.Operation.Path), ends, nil
}
