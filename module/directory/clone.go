package directory

import (
	"maps"
	"slices"
)

// Clone returns the user with claims of its own, for directories whose users are shared
// by all requests. The claims hold what encoding/json makes.
func (u User) Clone() User {
	if u.Claims != nil {
		u.Claims, _ = cloneValue(u.Claims).(map[string]any)
	}
	return u
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		v = maps.Clone(v)
		for k := range v {
			v[k] = cloneValue(v[k])
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = cloneValue(v[i])
		}
		return v
	}
	return v
}
