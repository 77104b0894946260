package gateway

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// TestEncodedSlashReachesNoOtherRule is G39. A scoped path lies inside a public one; some upstreams
// decode %2F into a slash, once or twice, and merge adjacent slashes.
func TestEncodedSlashReachesNoOtherRule(t *testing.T) {
	const allow = " {\n\t\t\tallow_encoded_slash\n\t\t}"
	for name, c := range map[string]struct {
		scoped, public, all string
		passes              bool // an encoded slash that changes nothing
	}{
		"refused":                   {"", "", "", false},
		"allowed in the scoped one": {allow, "", "", false},
		"allowed in the public one": {"", allow, "", true},
		"allowed in both":           {allow, allow, "", true},
		"allowed for all":           {"", "", "allow_encoded_slash", true},
	} {
		t.Run("G39 "+name, func(t *testing.T) {
			g, up := start(t, "$GUARD", "scope admin /files/secret /files/secret/*"+c.scoped+"\n\t\tpublic /files/*"+c.public+"\n\t\t"+c.all)
			read, _ := tokens(t, g, web)
			for _, target := range secretSpellings {
				for _, header := range []string{"X-Nobody: 1", "Authorization: Bearer " + read} {
					p := harness.Wire(t, g.API, "GET "+target, header, "X-Forwarded-For: "+somebody())
					for _, hit := range up.Hits() {
						if isSecretInSomeReading(hit.RequestURI) {
							t.Errorf("%s: %d, the upstream saw %s", target, p.Status, hit.RequestURI)
						}
					}
					if p.Status < 400 && isSecretInSomeReading(target) {
						t.Errorf("%s: %d %s", target, p.Status, p.Body)
					}
				}
			}
			p := harness.Wire(t, g.API, "GET /files/a%2fb")
			if !c.passes {
				wantEnvelope(t, p, http.StatusBadRequest, "bad_request")
				wantHits(t, up, 0)
				return
			}
			if hits := wantHits(t, up, 1); p.Status != http.StatusOK || len(hits) == 1 && hits[0].RequestURI != "/files/a%2Fb" {
				t.Errorf("%d, %v", p.Status, hits)
			}
		})
	}
}

// secretSpellings are targets that some upstream reads as /files/secret or below it.
var secretSpellings = []string{
	"/files/secret%2Fx", "/files/secret%2fx", "/files%2Fsecret/x", "/files%2fsecret%2fx", "/%2Ffiles/secret/x", "%2Ffiles/secret/x", "/files/%2Fsecret/x", "/files/%2F%2Fsecret/x",
	"/files%2F%2Fsecret%2Fx", "/files/secret%2F", "/files/secret%2F%2Fx", "/files/secret%2Fx%2Fy", "/files/SECRET%2Fx", "/files/s%65cret%2Fx", "/files/%73ecret%2fx",
	"/files/secret%252Fx", "/files%252Fsecret/x", "/files/secret%25252Fx", "/files/secret%5Cx", "/files/secret%2F..%2Fsecret/x", "/files/a%2F..%2Fsecret/x", "/files/a/..%2Fsecret%2Fx",
	"/files/a%2F../secret/x", "/files/.%2Fsecret/x", "/files/secret%2F.", "/files/secret%2Fx?y=%2F", "/files/secret/%2Fx", "/files/secret/a%2Fb", "/public%2F..%2Ffiles%2Fsecret%2Fx",
}

// isSecretInSomeReading reports whether a target is /files/secret or below it once its slashes have
// been decoded any number of times and merged, in any letter case.
func isSecretInSomeReading(target string) bool {
	p, _, _ := strings.Cut(target, "?")
	for range 5 {
		read := path.Clean("/" + strings.ToLower(strings.ReplaceAll(p, `\`, "/")))
		if read == "/files/secret" || strings.HasPrefix(read, "/files/secret/") {
			return true
		}
		decoded, err := url.PathUnescape(p)
		if err != nil || decoded == p {
			return false
		}
		p = decoded
	}
	return false
}
