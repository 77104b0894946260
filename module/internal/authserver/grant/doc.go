// Package grant owns what each grant type of the token endpoint checks and changes.
// It refuses to know HTTP and how a client authenticates or a token is signed: those
// are the endpoint's, done for every grant alike, so that none can forget them.
package grant
