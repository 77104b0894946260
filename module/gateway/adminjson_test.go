package gateway

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// A secret in the address, where logs see it, must not pass for one that was given.
func TestNoHandleOfTheAdminAPIOverlooksAParameter(t *testing.T) {
	m := storetest.NewMemory(nil)
	a := appWith(t, m)
	a.users = a.core.users
	for _, rt := range adminRoutes {
		for method, handle := range rt.handle {
			c := &adminCall{App: a, w: httptest.NewRecorder(), names: []string{"a", "b"},
				r: httptest.NewRequest(method, "/gatehouse/?secret=x", nil)}
			_, err := handle(c)
			if f := (*handler.Failure)(nil); handler.StatusOf(err) != http.StatusBadRequest || !errors.As(err, &f) || f.Field != "secret" {
				t.Errorf("%s %s: %v", method, rt.path, err)
			}
		}
	}
	if m.Len() != 0 {
		t.Errorf("%d records were written", m.Len())
	}
}
