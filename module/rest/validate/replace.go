package validate

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// replaceKeywords has all schemas that are reachable from s check uniqueItems and propertyNames with [distinct] and [names].
func replaceKeywords(s *jsonschema.Schema) {
	for reached := range reachable(s) {
		if reached.UniqueItems {
			reached.UniqueItems = false
			reached.Extensions = append(slices.Clip(reached.Extensions), distinct{})
		}
		if reached.PropertyNames != nil {
			reached.Extensions = append(slices.Clip(reached.Extensions), names{reached.PropertyNames})
			reached.PropertyNames = nil
		}
	}
}
