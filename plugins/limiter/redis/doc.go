// Package redis counts rate limits in Redis, so that many nodes share them. One script decides
// on a batch of requests in one step; a pipeline per limiter collects and sends the batches,
// and falls back to local counts while Redis does not answer. While a limit is far, Redis charges
// some requests in advance, which need no batch. Limits, header fields and the
// fallback are those of package ratelimit.
//
// A request whose policies count different subjects, such as its user and "all", has all its counts on one server of a
// cluster, since one script decides on them: a charge on one server cannot be taken back when another refuses.
package redis
