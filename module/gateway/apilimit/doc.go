// Package apilimit is the handler api_limit: it finds out for whom and how much a request counts,
// has the limiter (module/ratelimit) decide, and tells the client. It counts nothing itself.
package apilimit
