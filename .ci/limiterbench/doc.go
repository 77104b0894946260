// Package limiterbench measures the rate limiters of others, to compare them with the
// gateway's. It knows nothing of the gateway.
package limiterbench
