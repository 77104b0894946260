package authserver_test

import (
	"reflect"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/authserver/registration"
)

// The endpoints say that all their fields are needed.
func TestEveryEndpointFieldIsSet(t *testing.T) {
	g := newTokenRig(t, func(c *authserver.Config) {
		c.Registration = &registration.Rules{InitialTokens: []string{"digest"}, Scopes: []string{"read"}, Audience: []string{"https://api.example"}}
		c.Registrar = struct{ registration.Registrar }{}
	})
	server := reflect.ValueOf(g.server).Elem()
	for _, name := range []string{"clientAuth", "token", "revoke", "introspect", "userinfo", "par", "register"} {
		endpoint := server.FieldByName(name).Elem()
		for i := range endpoint.NumField() {
			if endpoint.Field(i).IsZero() {
				t.Errorf("%s: %s is not set", name, endpoint.Type().Field(i).Name)
			}
		}
	}
}
