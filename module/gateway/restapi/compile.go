package restapi

import (
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// CompileResources checks declared resources and compiles them to their operations.
func CompileResources(resources []resource.Resource) (*routes.Table, error) {
	return routes.New(resources)
}
