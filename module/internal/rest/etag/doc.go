// Package etag computes validators for translated responses: it derives them from the upstream's tag or
// from the body, recovers the upstream's tag, and evaluates conditions (RFC 9110 sections 8.8.3 and
// 13). Tags that clients must not see it seals. It reads and writes header values only.
package etag
