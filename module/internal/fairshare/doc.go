// Package fairshare divides a bounded resource among the networks that ask for it, so that
// a few addresses cannot use up what is meant for everybody: [Rate] for what may happen in
// a stretch of time, [Places] for what may be under way, [Queue] for turns that are waited
// for. It refuses to know what is bounded and who asks.
//
// A limit is for whoever asks. Half as much again is a reserve for newcomers: an address
// that holds nothing gets one unit of it, and the networks around it have quotas, so that a
// large network cannot send any number of newcomers. To stop an address that holds nothing,
// one needs as many addresses as the reserve has units, in more than a dozen unrelated large
// networks.
package fairshare
