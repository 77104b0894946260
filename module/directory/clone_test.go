package directory

import (
	"reflect"
	"testing"
)

func TestCloneSharesNoClaims(t *testing.T) {
	original := func() User {
		return User{ID: "1", Claims: map[string]any{"groups": []any{"a", map[string]any{"b": "c"}}, "at": map[string]any{"work": "x"}}}
	}
	u := original()
	c := u.Clone()
	if !reflect.DeepEqual(c, u) {
		t.Fatalf("%+v became %+v", u, c)
	}
	groups, _ := c.Claims["groups"].([]any)
	inner, _ := groups[1].(map[string]any)
	work, _ := c.Claims["at"].(map[string]any)
	groups[0], inner["b"], work["work"], c.Claims["new"] = "z", "z", "z", "z"
	if !reflect.DeepEqual(u, original()) {
		t.Errorf("a change of the clone reached the original: %+v", u)
	}
	if (User{}).Clone().Claims != nil {
		t.Error("no claims became some")
	}
}
