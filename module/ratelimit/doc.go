// Package ratelimit owns rate limits: the exact sliding window, the decision over
// several policies in one step, the counters in this process, and the header fields
// that tell a client where it stands. It refuses to know who a caller is, how a
// subject was found, and what a refusal looks like beyond its header fields.
package ratelimit
