// Package fairshare divides a bounded resource among the networks that use it, so that a few
// addresses cannot use up what is meant for everybody: [Rate] bounds events per time, [Places]
// concurrent work, and [Queue] orders waiting requests. It does not know what the resource is or
// who is asking.
//
// A limit is first come, first served. A reserve of half the limit is added for newcomers: an
// address that holds nothing may make one request from the reserve, and the networks around it have
// quotas, so that one large network cannot send an unlimited number of newcomers. To shut newcomers
// out, an attacker needs as many addresses as the reserve has units (fewer where a request costs
// several), in many unrelated large networks: more than a dozen of them for a reserve of 300 units,
// fewer for a small one.
package fairshare
