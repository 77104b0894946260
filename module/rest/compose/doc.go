// Package compose builds the members that the gateway itself places in the body of a request for an
// upstream: constants, and values of the client's path and query. It knows neither resources nor
// how a form is written.
package compose
