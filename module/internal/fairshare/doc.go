// Package fairshare divides a bounded resource among the networks that ask for it, so that
// a few addresses cannot use up what is meant for everybody: [Rate] for what may happen in
// a stretch of time, [Places] for what may be under way, [Queue] for turns that are waited
// for. It refuses to know what is bounded and who asks.
//
// A limit serves whoever asks first. Half as much again is reserved for newcomers: an
// address that holds nothing may make one request from the reserve, and the networks around
// it have quotas, so that one large network cannot send any number of newcomers. To stop a
// newcomer, an attacker needs as many addresses as the reserve has units, or fewer where a
// request costs several, in many unrelated large networks: more than a dozen of them where
// the reserve has 300 units, fewer where it is small.
package fairshare
