package cursor

import "github.com/gatehouse/gatehouse/module/internal/secret"

// use names the key that seals cursors of lists. It is the same on all nodes.
const use = "rest cursor"

// Sealer makes and opens the cursors of one client's request.
type Sealer struct {
	keys  *secret.Keys
	scope []byte // a JSON text
}

// NewSealer returns a sealer. scope, a JSON text, says who asks, at which site, and through which
// version of the API.
func NewSealer(keys *secret.Keys, scope []byte) *Sealer { return &Sealer{keys, scope} }

// Seal implements list.Sealer. A page that has not changed gets the same cursor again, so that its
// ETag stays the same. Equal cursors lead the same caller to the same page of the same list, which
// tells the caller nothing new.
func (s *Sealer) Seal(plain, bound []byte) string {
	return s.keys.SealRepeatable(use, plain, s.whole(bound))
}

// Open implements list.Sealer.
func (s *Sealer) Open(sealed string, bound []byte) ([]byte, error) {
	return s.keys.Open(use, sealed, s.whole(bound))
}

// whole puts the scope in front of what a cursor belongs to. Both are JSON texts, so that neither
// runs into the other.
func (s *Sealer) whole(bound []byte) []byte {
	return append(append([]byte(nil), s.scope...), bound...)
}
