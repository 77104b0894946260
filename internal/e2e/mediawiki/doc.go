// Package mediawiki holds the tests that drive examples/mediawiki, Debian's MediaWiki behind
// the gateway, as its README and clients do. It has nothing but tests.
package mediawiki
