package restapi

import (
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// R08: an API that honours Idempotency-Key would take a change by another version for a repetition.
func TestBatchItemsHaveOtherKeysInAnotherVersion(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"vendor": "acme", "versions": [{"name": "v1"}, {"name": "v2"}], "upstream": $TO, "resources": [{"path": "things"}]`)
	u.Answer(says("application/json", `{"id":1}`))
	key := func(path, accept string) string {
		t.Helper()
		p := r.do("writer", "PATCH", path, `[{"id":1,"op":"replace","path":"/a","value":1}]`, "Idempotency-Key", "k-1", "Accept", accept)
		hits := u.Hits()
		if p.Status != 200 || len(hits) != 1 {
			t.Fatalf("%s %s: %d %s, %d arrived", path, accept, p.Status, p.Body, len(hits))
		}
		return hits[0].Header.Get("Idempotency-Key")
	}
	const plain, v1, v2 = "application/json", "application/vnd.acme.v1+json", "application/vnd.acme.v2+json"
	none, one, two := key("/things", plain), key("/things", v1), key("/things", v2)
	if none == "" || none == one || one == two || none == two {
		t.Errorf("%q without a version, %q and %q of versions that Accept names", none, one, two)
	}
	if in := key("/v1/things", v1); in != key("/v1/things", plain) {
		t.Error("the version is in the path, and no longer in Accept")
	}
}
