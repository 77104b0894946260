package restapi

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// uuid is what APIs take for a key that take no other text.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

const keyed = `"upstream": $TO, "resources": [
	{"path": "orders", "idempotency": true, "batch": ["n"]}, {"path": "notes", "idempotency": true}, {"path": "open", "idempotency": true, "batch": ["n"]}, {"path": "plain"}
]`

// keyAtTheAPI is a function that sends a POST and returns the key that the API got. Nothing is done for these
// requests, so each of them reaches the API.
func keyAtTheAPI(t *testing.T) func(client, path, key string, header ...string) string {
	t.Helper()
	u := newRecorded(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	r := start(t, u.Addr, keyed)
	return func(client, path, key string, header ...string) string {
		t.Helper()
		r.do(client, "POST", path, `{"n":1}`, append(header, "Idempotency-Key", key)...)
		hit, _ := u.last(t)
		return hit.Header.Get("Idempotency-Key")
	}
}

// An API that heeds keys, and to which all callers are one account, must not answer one with what it did for
// another. Some of them take UUIDs only.
func TestAPIGetsAUUIDForEachCallersKey(t *testing.T) {
	key := keyAtTheAPI(t)
	first := key("writer", "/orders", "k1")
	if !uuid.MatchString(first) {
		t.Errorf("%s is no UUID", first)
	}
	if quoted := key("writer", "/orders", `"k1"`); quoted != `"`+first+`"` {
		t.Errorf("%s, and %s for the same in quotes", first, quoted)
	}
	for _, c := range [][2]string{{"/orders", "k2"}, {"/notes", "k1"}} {
		if other := key("writer", c[0], c[1]); other == first || !uuid.MatchString(other) {
			t.Errorf("%s for k1, %s for %v", first, other, c)
		}
	}
	if own := key("writer", "/plain", "k1"); own != "k1" {
		t.Errorf("without idempotency: %s", own)
	}
}

// The API of callers whom the gateway does not know has keys for each of its own accounts. A client that repeats
// a request after it has renewed a token or got another cookie is the same there.
func TestAPIThatKnowsItsCallersGetsTheirOwnKeys(t *testing.T) {
	key := keyAtTheAPI(t)
	for _, c := range [][]string{{"k1"}, {"k1", "X-Api-Key", "old"}, {"k1", "X-Api-Key", "new"}, {"k1", "Cookie", "session=2"}, {`"k1"`, "X-Api-Key", "new"}} {
		if got := key("", "/open", c[0], c[1:]...); got != c[0] {
			t.Errorf("%v reaches the API as %s", c, got)
		}
	}
}

// R08: an API that honours keys would take the second change of a batch for a repetition of the first.
func TestBatchItemsHaveKeysLikeOtherRequests(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, keyed)
	u.Answer(says("application/json", `{"id":1}`))
	seen := make(map[string]bool)
	for _, c := range [][2]string{{"writer", "/orders"}, {"", "/open"}} {
		for _, key := range []string{"k1", `"k1"`, "k2"} {
			p := r.do(c[0], "PATCH", c[1], `[{"id":1,"op":"replace","path":"/n","value":1},{"id":2,"op":"replace","path":"/n","value":1}]`, "Idempotency-Key", key)
			hits := u.Hits()
			if p.Status != http.StatusOK || len(hits) != 2 {
				t.Fatalf("%v: %d %s, %d arrived", c, p.Status, p.Body, len(hits))
			}
			for _, h := range hits {
				got := h.Header.Get("Idempotency-Key")
				bare := strings.Trim(got, `"`)
				quoted := key[0] == '"' // a repetition of the batch before
				if !uuid.MatchString(bare) || (got != bare) != quoted || seen[bare] != quoted {
					t.Errorf("%v %s: the API gets %s", c, key, got)
				}
				seen[bare] = true
			}
		}
	}
}
