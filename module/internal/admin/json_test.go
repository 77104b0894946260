package admin

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A secret in the address, where logs see it, must not pass for one that was given. The calls
// have nothing to administer: every handler looks at the parameters first.
func TestEveryHandlerRefusesUnknownParameters(t *testing.T) {
	for _, rt := range routes {
		for method, handle := range rt.handle {
			_, err := handle(&call{
				Config: new(Config), w: httptest.NewRecorder(), names: []string{"a", "b"},
				r: httptest.NewRequest(method, "/gatehouse/?secret=x", nil),
			})
			var refused *refusal
			if !errors.As(err, &refused) || refused.status != http.StatusBadRequest || refused.told.Field != "secret" {
				t.Errorf("%s %s: %v", method, rt.path, err)
			}
		}
	}
}
