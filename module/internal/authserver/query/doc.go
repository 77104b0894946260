// Package query decodes and encodes the parameters of authorization requests: strictly, in
// order, with bounds. It knows nothing of what the parameters mean.
package query
