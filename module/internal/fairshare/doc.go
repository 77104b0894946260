// Package fairshare divides a bounded resource among the networks that ask for it, so that
// a few addresses cannot use up what is meant for everybody: [Rate] bounds events per time,
// [Places] what may be in progress, and [Queue] orders those that wait. It does not know what
// is bounded or who asks.
//
// A limit serves whoever asks first. Another half of it is reserved for newcomers: an address
// that holds nothing may make one request from the reserve, and the networks around it have
// quotas, so that one large network cannot send any number of newcomers. To stop a newcomer,
// an attacker needs as many addresses as the reserve has units, or fewer where a request
// costs several, in many unrelated large networks: more than a dozen of them where the
// reserve has 300 units, fewer where it is small.
package fairshare
