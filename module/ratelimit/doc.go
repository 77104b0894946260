// Package ratelimit limits rates: the exact sliding window, the decision over several
// policies in one step, the counters in this process, and the header fields that tell a
// client its quota. It knows nothing about callers, how a subject was found, or what a
// refusal looks like beyond its header fields.
package ratelimit
