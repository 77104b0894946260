package token

import "github.com/gatehouse/gatehouse/module/internal/jose"

// maxHeader bounds the encoded header: typ, alg and a kid of 43 characters.
const maxHeader = 512

// header is what we write and therefore all we accept.
type header struct {
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	Typ string `json:"typ"`
}

// parseHeader accepts exactly the members typ, alg and kid. What else a header can say (crit, b64, zip, jwk, jku,
// x5c, x5u) either changes how a token is read or names a key of the sender's choice, and no token of ours says it.
func parseHeader(encoded string) (header, error) {
	c := jose.DecodeClaims(encoded)
	if len(encoded) > maxHeader || c.Len() != 3 {
		return header{}, errHeader
	}
	h := header{Alg: c.Text("alg"), Kid: c.Text("kid"), Typ: c.Text("typ")}
	if !c.OK {
		return header{}, errHeader
	}
	return h, nil
}
