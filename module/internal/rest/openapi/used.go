package openapi

import (
	"encoding/json"
	"regexp"
)

var reference = regexp.MustCompile(`"\$ref":"#/components/([a-z]+)/([^"]+)"`)

// used are the components that paths refer to, and those that these refer to. The others
// are of operations that nobody may use, and of resources that are never sent.
func used(paths object, components object) (object, error) {
	kept := object{}
	for look := []any{paths}; len(look) > 0; look = look[1:] {
		text, err := json.Marshal(look[0])
		if err != nil {
			return nil, err
		}
		for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
			all, _ := components[m[1]].(object)
			of, _ := kept[m[1]].(object)
			if of == nil {
				of = object{}
				kept[m[1]] = of
			}
			if c, there := all[m[2]]; there && of[m[2]] == nil {
				of[m[2]] = c
				look = append(look, c)
			}
		}
	}
	return kept, nil
}
