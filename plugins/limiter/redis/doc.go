// Package redis counts rate limits in Redis, so that many nodes share them. One script decides
// on a batch of requests in one step; a pipeline per limiter collects and sends the batches,
// and falls back to local counts while Redis does not answer. While a limit is far, Redis charges
// some requests in advance, which need no batch. Limits, header fields and the
// fallback are those of package ratelimit.
//
// In a cluster, the counts of subjects, such as users, are divided among the servers. Those of common policies, "all" and
// "route", are on one, which leases relieve of most requests; it is asked last, and the subject's server gives back
// what it charged if that refuses. A request that is counted for two subjects has all its counts on one server.
package redis
