// Package authorize is the authorization endpoint: it checks requests, asks for consent, and
// answers with codes or, in the implicit grant, tokens. It also reads the requests of Variant B.
// It knows nothing of passwords, and redeems no code.
package authorize
