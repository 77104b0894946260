// Package proxying holds the tests of api_proxy, most of which ask the same of Caddy's
// reverse_proxy: both stand in front of one server that the test plays byte for byte. It has
// nothing but tests.
package proxying
