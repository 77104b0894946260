// Package grant has a file per grant type, with what it checks and changes. It knows nothing of HTTP, client
// authentication or signatures: the token endpoint handles these for all grants, so that no grant can forget
// them.
package grant
