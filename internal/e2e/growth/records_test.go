package growth

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/store/bolt"
)

const site = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		level ERROR
	}
	gatehouse {
		issuer http://$ID
		secret {env.GATEHOUSE_TEST_SECRET}
		store %s
		users file $DIR/users.json
		scope read "Read"
		client web {
			public
			redirect_uri https://app.example/callback
			scopes openid read
		}
	}
}
http://$ID {
	oauth_server
}
`

// passwordHash is of [harness.Password].
const passwordHash = "$argon2id$v=19$m=47104,t=1,p=1$4eiIWhonnHYMl9VBuh12Pw$Fjf9xAPAuAdYebGXs273azgXtm+Aj3/YVyeeBVQExXY"

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

func userID(i int) string { return fmt.Sprintf("0197c8a5-5c1e-7d1a-9b1f-%012d", i) }

// signIn has each of n users sign in, consent, and the client redeem the code.
func signIn(t *testing.T, configuration string, n int) *harness.Gateway {
	t.Helper()
	t.Setenv("GATEHOUSE_TEST_SECRET", "a-secret-of-a-test-0123456789-0123456789")
	g := harness.Prepare(t)
	var users []string
	for i := range n {
		users = append(users, fmt.Sprintf(`{"id":%q,"username":"user%d","password_hash":%q}`, userID(i), i, passwordHash))
	}
	g.WriteFile(t, "users.json", `{"users":[`+strings.Join(users, ",")+`]}`)
	g.Begin(t, configuration)
	for i := range n {
		request := url.Values{
			"response_type": {"code"}, "client_id": {"web"}, "redirect_uri": {"https://app.example/callback"}, "scope": {"openid read"}, "state": {"state"},
			"nonce": {"0123456789abcdef0123456789abcdef"}, "code_challenge": {harness.Challenge(verifier)}, "code_challenge_method": {"S256"},
		}
		back := harness.NewBrowser(t, g.ID).Authorize(g.ID+"/authorize?"+request.Encode(), fmt.Sprint("user", i), harness.Password)
		p := g.Token(t, harness.Credentials{ID: "web"}, url.Values{
			"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {"https://app.example/callback"}, "code_verifier": {verifier},
		})
		if p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
	}
	return g
}

// What a sign-in leaves in Redis, by kind and per user, with the keys by which records of a user are found.
func TestRecordsOfASignInInRedis(t *testing.T) {
	const users = 10
	s := redistest.Start(t)
	signIn(t, fmt.Sprintf(site, "redis "+s.URL()), users)
	cost := map[string]int{}
	for key := range strings.FieldsSeq(s.CLI("KEYS", "*")) {
		bytes, err := strconv.Atoi(strings.TrimSpace(s.CLI("MEMORY", "USAGE", key, "SAMPLES", "0")))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"grant", "code", "pair", "session", "consent"} {
			if strings.Contains(key, "r:"+kind+":") {
				cost[kind] += bytes
			}
			if strings.Contains(key, "{p:"+kind+":") {
				cost[kind+" index"] += bytes
			}
		}
	}
	for kind := range cost {
		cost[kind] /= users
	}
	t.Logf("| a grant in Redis | grant %d B, its index %d B, used code %d B, its index %d B, pair %d B, its index %d B |",
		cost["grant"], cost["grant index"], cost["code"], cost["code index"], cost["pair"], cost["pair index"])
	t.Logf("| a user in Redis | session %d B and %d B, consent %d B and %d B |", cost["session"], cost["session index"], cost["consent"], cost["consent index"])
	if cost["code"] > 400 || cost["code"] > cost["grant"]*2/3 {
		t.Errorf("a used code takes %d bytes, its grant %d", cost["code"], cost["grant"])
	}
}

// What a sign-in leaves in a bolt file, by kind and per user.
func TestRecordsOfASignInInBolt(t *testing.T) {
	const users = 10
	g := signIn(t, fmt.Sprintf(site, "bolt $DIR/state.db"), users)
	copied := filepath.Join(t.TempDir(), "state.db")
	content, err := os.ReadFile(filepath.Join(g.Dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := bolt.Open(bolt.Options{Path: copied})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	cost := map[store.Kind]int{}
	for i := range users {
		for _, kind := range []store.Kind{store.KindGrant, store.KindCode, store.KindPair, store.KindSession, store.KindConsent} {
			records, err := b.List(t.Context(), kind, userID(i), "", 10)
			if err != nil || len(records) != 1 {
				t.Fatalf("%s: %d records, %v", kind, len(records), err)
			}
			cost[kind] += len(records[0].ID) + len(records[0].Value)
		}
	}
	t.Logf("| a grant in bolt | grant %d B, used code %d B, pair %d B, session %d B, consent %d B: ids and values |",
		cost[store.KindGrant]/users, cost[store.KindCode]/users, cost[store.KindPair]/users, cost[store.KindSession]/users, cost[store.KindConsent]/users)
}

// A preflight names no client: what the first one of an origin costs with many clients in the store.
func TestPreflightsOfStoredClients(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_SECRET", "a-secret-of-a-test-0123456789-0123456789")
	for _, n := range sizes(1500, 10_000) {
		g := harness.Prepare(t)
		b, err := bolt.Open(bolt.Options{Path: filepath.Join(g.Dir, "state.db")})
		if err != nil {
			t.Fatal(err)
		}
		makeClients(t, b, n)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		g.WriteFile(t, "users.json", `{"users":[]}`)
		g.Begin(t, fmt.Sprintf(site, "bolt $DIR/state.db"))
		client := harness.NewBrowser(t, "").Client
		preflight := func(i int) (time.Duration, bool) {
			origin := fmt.Sprintf("https://c%05d.example", i)
			begun := time.Now()
			p := harness.Send(t, client, http.MethodOptions, g.ID+"/token", "", "Origin", origin, "Access-Control-Request-Method", "POST")
			return time.Since(begun), p.Header.Get("Access-Control-Allow-Origin") == origin
		}
		first, ok := preflight(0)
		var took, unknown []time.Duration
		for i := range 200 {
			d, known := preflight(1 + i*(n-1)/200)
			took, ok = append(took, d), ok && known
			d, known = preflight(n + i)
			unknown, ok = append(unknown, d), ok && !known
		}
		if !ok {
			t.Errorf("%d clients: a wrong answer", n)
		}
		t.Logf("| %6d clients in the store | first preflight %v, then of a client %v, of nobody %v (medians) |", n, first, median(took), median(unknown))
	}
}

func makeClients(t *testing.T, b store.Backend, n int) {
	t.Helper()
	clients, err := gatewaytest.NewClients(b)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	const writers = 64
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n; i += writers {
				id := fmt.Sprintf("c%05d", i)
				_, _, err := clients.Create(t.Context(), gatewaytest.Client{Client: oauth.Client{
					ID: id, Public: true, RedirectURIs: []string{"https://" + id + ".example/cb"}, Scopes: []string{"read"},
				}})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
