package relying

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

const (
	username, password = "alice", harness.Password

	users = `{"users":[
{"id":"u-1","username":"alice","name":"Alice Liddell","nickname":"Al","email":"alice@example.com","picture":"https://pictures.example/alice.png","password_hash":"` + harness.PasswordHash + `"}
]}`

	site = "{\n" + harness.Quiet + `
	gatehouse {
		issuer http://$ID
		name "Test ID"
		store bolt $DIR/state.db
		users file $DIR/users.json
		tokens {
			audience https://api.example
		}
		scope read "Read"
		$CLIENTS
	}
}
http://$ID {
	oauth_server
}
`
)

// begin starts a gateway with these clients beside the user alice; the pairs are filled in.
func begin(t *testing.T, clients string, more ...string) *harness.Gateway {
	t.Helper()
	g := harness.Prepare(t, more...)
	g.WriteFile(t, "users.json", users)
	g.Begin(t, strings.Replace(site, "$CLIENTS", clients, 1))
	return g
}
