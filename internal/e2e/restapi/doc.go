// Package restapi tests api_rest over HTTP: a running gateway in front of an API that
// follows none of the conventions.
package restapi
