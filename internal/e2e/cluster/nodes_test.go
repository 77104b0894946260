package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// times is how often something is repeated, or another measure: short, or long in a soak.
func times[T any](short, long T) T {
	if os.Getenv("GATEHOUSE_SOAK") != "" {
		return long
	}
	return short
}

func TestMain(m *testing.M) {
	code := m.Run()
	redistest.StopShared()
	os.Exit(code)
}

var (
	web     = harness.Credentials{ID: "web", Secret: "web-secret-0123456789-0123456789-0123456789"}
	machine = harness.Credentials{ID: "machine", Secret: "machine-secret-0123456789-0123456789-012345"}
)

const (
	masterSecret       = "master-secret-0123456789-0123456789-0123456"
	username, password = "alice", harness.Password
	callback           = "https://client.example/cb"
)

const users = `{"users":[{"id":"u-1","username":"alice","password_hash":"` + harness.PasswordHash + `"}]}`

// patience is how long the nodes wait for Redis. They share the machine with whatever else
// is tested on it: what is shown here is what they do with answers, not how soon Redis must
// answer to be no outage.
const patience = "5s"

const caddyfile = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	grace_period 20s
	log {
		level ERROR
	}
	gatehouse {
		issuer $ISSUER
		secret {env.MASTER_SECRET}
		store redis $REDIS {
			prefix $PREFIX
			timeout $PATIENCE
		}
		limiter redis {
			timeout $PATIENCE
		}
		users file $DIR/users.json
		tokens {
			audience https://api.example
			$TOKENS
		}
		protect {
			per_address 1000
			codes_per_user 1000000
		}
		scope read "Read"
		client web {
			secret {env.WEB_SECRET}
			redirect_uri https://client.example/cb
			grants authorization_code refresh_token
			scopes read
		}
		client machine {
			secret {env.MACHINE_SECRET}
			grants client_credentials
			scopes read
		}
	}
}
http://$ID {
	oauth_server
}
http://$API {
	api_errors
	oauth_guard {
		scope read * /*
	}
	api_limit {
		$LIMIT
	}
	reverse_proxy $UPSTREAM
}
`

// plan is what a test wants otherwise than the usual.
type plan struct {
	redis  *redistest.Server // the shared one
	url    string            // that of redis
	links  map[int]string    // the address by which single nodes reach Redis, if not url
	tokens string
	limit  string // client 1000000 1h
	// change are pairs that replace parts of the Caddyfile.
	change []string
}

// cluster is three nodes for one issuer, all of them a real process.
type cluster struct {
	// issuer is the address by which clients know it. Nobody listens there: who sends to a
	// node is connected to it, as a balancer would.
	issuer string
	nodes  []*node
}

// node is one process.
type node struct {
	*harness.Gateway
	process   *harness.Process
	plain     *http.Client // sends to this node what is for the issuer
	caddyfile string
}

const nodesOfCluster = 3

func start(t *testing.T, p plan) *cluster {
	t.Helper()
	for name, value := range map[string]string{"MASTER_SECRET": masterSecret, "WEB_SECRET": web.Secret, "MACHINE_SECRET": machine.Secret} {
		t.Setenv(name, value)
	}
	if p.redis == nil && p.url == "" {
		p.redis = redistest.Shared(t)
	}
	if p.redis != nil {
		p.url = p.redis.URL()
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	t.Cleanup(upstream.Close)
	c := &cluster{issuer: fmt.Sprintf("http://localhost:%d", harness.FreePorts(t, 1)[0])}
	prefix := rand.Text() + ":" // tests share a Redis
	for i := range nodesOfCluster {
		n := &node{Gateway: harness.Prepare(t)}
		n.caddyfile = strings.NewReplacer("$ISSUER", c.issuer, "$REDIS", cmp.Or(p.links[i], p.url), "$PREFIX", prefix, "$PATIENCE", patience, "$TOKENS", p.tokens,
			"$LIMIT", cmp.Or(p.limit, "client 1000000 1h"), "$UPSTREAM", strings.TrimPrefix(upstream.URL, "http://")).Replace(strings.NewReplacer(p.change...).Replace(caddyfile))
		n.plain = newClient(t, func(address string) string {
			if address == strings.TrimPrefix(c.issuer, "http://") {
				address = strings.TrimPrefix(n.ID, "http://")
			}
			return strings.Replace(address, "localhost:", "127.0.0.1:", 1)
		})
		n.WriteFile(t, "users.json", users)
		n.run(t)
		c.nodes = append(c.nodes, n)
	}
	return c
}

// run starts the node, at first or again.
func (n *node) run(t *testing.T) {
	t.Helper()
	n.process = n.Run(t, n.caddyfile)
}

// newClient keeps as many connections alive as it is used in parallel, and follows no
// redirects. route says where an address is.
func newClient(t *testing.T, route func(address string) string) *http.Client {
	t.Helper()
	dialer := new(net.Dialer)
	transport := &http.Transport{
		MaxIdleConnsPerHost: 1024, DisableCompression: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, route(address))
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// atOnce runs f n times in parallel, all let go at one moment.
func atOnce(n int, f func(i int)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	wg.Wait()
}
