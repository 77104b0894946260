// Package redis counts rate limits in Redis, so that many nodes share them. One script decides
// on a batch of requests in one step; a pipeline per limiter collects and sends the batches,
// and falls back to local counts while Redis does not answer. While a limit is far, Redis charges
// some requests in advance, which need no batch. Limits, header fields and the
// fallback are those of package ratelimit.
//
// # Policies with different subjects in a cluster
//
// A request that is counted by user and under "all" has both counts on one server, since one script decides
// on them. Leases are for whole requests and change nothing about that. To divide such a set, "all" and "route" would
// be leased by policy, each from a shard of its own, and the user be counted on its shard. That is exact only if
//
//   - the user's shard is asked last: its charge cannot be undone without having counted, while a unit that the node
//     holds of "all" goes back to the node if the user is refused, and Redis sees nothing of it;
//   - a unit is taken only if its slot lasts longer than a request waits for Redis, because it has to be valid when
//     the user's shard has answered;
//   - near the limit a node holds nothing idle: it asks for as many units as requests wait, and gives back what they do
//     not use. Meanwhile such a unit may refuse another request, which the contract of Source does not allow yet;
//   - a dry run of "all" is counted on its shard, but never decides;
//   - the whole request is decided as in an outage if one of its shards does not answer, and its units go back.
package redis
