// Package api is an API as many were written twenty years ago: one script, verbs in
// the query, paging of its own, failures with status 200. It keeps everything in
// memory and knows nothing of tokens: it believes the X-Auth-* headers that the
// gateway in front of it sets, so it must never be reachable around the gateway.
package api
