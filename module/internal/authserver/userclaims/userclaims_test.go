package userclaims_test

import (
	"testing"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver/userclaims"
)

// Relying parties put it into pages, wherever the directory has it.
func TestPictureAmongTheClaimsIsAnAddressToo(t *testing.T) {
	for _, c := range []struct {
		claim any
		want  any
	}{
		{"https://img.example/ann.png", "https://img.example/ann.png"},
		{"javascript:alert(1)", nil}, {"http://img.example/ann.png", nil}, {"", nil}, {7, nil},
	} {
		u := directory.User{ID: "u1", Username: "ann", Claims: map[string]any{"picture": c.claim}}
		if got := userclaims.Of(u, []string{"profile"})["picture"]; got != c.want {
			t.Errorf("of %v: %v, want %v", c.claim, got, c.want)
		}
	}
	u := directory.User{Picture: "https://img.example/field", Claims: map[string]any{"picture": "https://img.example/claim"}}
	if got := userclaims.Of(u, []string{"profile"})["picture"]; got != u.Picture {
		t.Errorf("the field does not take precedence: %v", got)
	}
}
