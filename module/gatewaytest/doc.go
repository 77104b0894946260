// Package gatewaytest opens parts of a gateway for tests from outside: what a second node
// on the same store sees and writes, the keys that a master secret gives, an authorization
// server whose clock the test moves, and every page. Products do not import it.
package gatewaytest
