// Package redis owns rate limits that many nodes share through Redis: one script that decides
// on many requests in one step, the round trips it takes, and what is known while Redis is
// away. The decision itself is the one of package ratelimit; it refuses to know anything else about limits.
package redis
