package gateway

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/plugins/directory/sql/sqltest"
)

// forum has its users in the database of another program.
const forum = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		output file $DIR/log
		level DEBUG
	}
	gatehouse {
		issuer http://$ID
		store bolt $DIR/state.db
		users sql $DRIVER {
			dsn {env.USERS_DSN}
			query "SELECT id, login AS username, passwd AS password, salt, name, email, blocked AS locked FROM users WHERE login = $MARK"
			lookup "SELECT id, login AS username, name, email, blocked AS locked FROM users WHERE id = $MARK"
			scheme "md5(md5(password) + salt)"
			timeout 30s
		}
		scope read "Read"
		client web {
			secret web-secret-0123456789-0123456789-0123456789
			redirect_uri https://client.example/cb
			grants authorization_code refresh_token
			scopes read
		}
	}
}
http://$ID {
	oauth_server
}
http://$API {
	oauth_guard
	respond "{http.auth.user.id} is {http.auth.user.name}"
}
`

func TestDatabaseUsersSignInThroughTheGateway(t *testing.T) {
	t.Cleanup(sqltest.StopAll)
	sqltest.Both(t, func(t *testing.T, s *sqltest.Server) {
		s.Exec(t, "DROP TABLE IF EXISTS users")
		s.Exec(t, "CREATE TABLE users (id INT PRIMARY KEY, login VARCHAR(191), passwd CHAR(32), salt CHAR(6), name VARCHAR(100), email VARCHAR(191), blocked INT)")
		// As a forum of 2005 keeps it: md5(md5(password).salt).
		s.Exec(t, "INSERT INTO users VALUES (7, 'ann', '156013b3727fbef752c91b7896d30339', 'pepper', 'Ann Example', NULL, 0)")
		t.Setenv("USERS_DSN", s.DSN())
		g := harness.Start(t, forum, "$DRIVER", s.Driver, "$MARK", map[string]string{"postgres": "$1", "mysql": "?"}[s.Driver])
		b := harness.NewBrowser(t, g.ID)
		address := g.ID + "/authorize?" + url.Values{
			"client_id": {"web"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
			"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
		}.Encode()
		page := b.Get(address)
		for name, pass := range map[string]string{"ann": "wrong horse", "' OR '1'='1": "correct horse", "nobody": "correct horse"} {
			if p := b.Submit(page, url.Values{"username": {name}, "password": {pass}}); p.Status != http.StatusUnauthorized {
				t.Errorf("%s with %s: %d", name, pass, p.Status)
			}
		}
		back := b.Authorize(address, "ann", "correct horse")
		p := g.Token(t, web, exchange(back.Query().Get("code"), callback))
		if p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		access, _ := p.JSON(t)["access_token"].(string)
		refresh, _ := p.JSON(t)["refresh_token"].(string)
		if p := g.Call(t, http.MethodGet, "/x", access); p.Status != http.StatusOK || p.Body != "7 is Ann Example" {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		renew := func() harness.Page {
			p := g.Token(t, web, refreshWith(refresh))
			if p.Status == http.StatusOK {
				refresh, _ = p.JSON(t)["refresh_token"].(string)
			}
			return p
		}
		s.Stop()
		if p := b.Submit(page, url.Values{"username": {"ann"}, "password": {"correct horse"}}); p.Status != http.StatusServiceUnavailable {
			t.Errorf("a sign-in without the database: %d", p.Status)
		}
		if p := renew(); p.Status != http.StatusServiceUnavailable || p.Header.Get("Retry-After") == "" {
			t.Errorf("a refresh without the database: %d %s", p.Status, p.Body)
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		p = renew()
		for end := time.Now().Add(time.Minute); p.Status == http.StatusServiceUnavailable && time.Now().Before(end); p = renew() {
			time.Sleep(100 * time.Millisecond) // it answers connections before it answers in time
		}
		if p.Status != http.StatusOK {
			t.Errorf("a refresh when it is back: %d %s", p.Status, p.Body)
		}
		s.Exec(t, "UPDATE users SET blocked = 1")
		if p := renew(); p.Status != http.StatusBadRequest || !strings.Contains(p.Body, "invalid_grant") {
			t.Errorf("a refresh of a locked user: %d %s", p.Status, p.Body)
		}
		if _, config := harness.Get(t, g.Admin+"/config/"); strings.Contains(config, sqltest.Password) || !strings.Contains(config, "{env.USERS_DSN}") {
			t.Error("the configuration shows the database's password")
		}
		log, err := os.ReadFile(filepath.Join(g.Dir, "log"))
		if err != nil || len(log) == 0 {
			t.Fatalf("no log: %v", err)
		}
		for _, hidden := range []string{sqltest.Password, "correct horse", "wrong horse", "156013b3727fbef752c91b7896d30339"} {
			if strings.Contains(string(log), hidden) {
				t.Errorf("the log has %q in it", hidden)
			}
		}
	})
	t.Run("N08 guesses count for the person", func(t *testing.T) { sqltest.Both(t, guessesInADatabase) })
}
