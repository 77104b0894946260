// Package batch implements `PATCH /{collection}`: it reads the items, combines them to one change per
// resource, runs a few changes at a time, and builds the response with the result of each item. It
// does not know how a change reaches the upstream.
package batch
