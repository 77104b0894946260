package relying

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

const (
	username, password = "alice", "correct horse battery staple"

	users = `{"users":[
{"id":"u-1","username":"alice","name":"Alice Liddell","nickname":"Al","email":"alice@example.com","picture":"https://pictures.example/alice.png","password_hash":"$argon2id$v=19$m=4096,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$mDBI7I83kOTBcQZVXUAHCRm9ZyNmqrIccUZP456pguY"}
]}`

	site = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		output discard
	}
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
http://$API {
	oauth_guard {
		scope read GET /*
	}
	respond "in"
}
`
)

// begin starts a gateway with these clients beside the user alice.
func begin(t *testing.T, clients string, more ...string) *harness.Gateway {
	t.Helper()
	for i := 0; i+1 < len(more); i += 2 {
		clients = strings.ReplaceAll(clients, more[i], more[i+1])
	}
	g := harness.Prepare(t, append(more, "$CLIENTS", clients)...)
	g.WriteFile(t, "users.json", users)
	g.Begin(t, site)
	return g
}
