// Package mediawiki tests examples/mediawiki, Debian's MediaWiki behind
// the gateway, the way its README and clients use it. It contains only tests.
package mediawiki
