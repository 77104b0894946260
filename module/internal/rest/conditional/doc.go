// Package conditional answers conditional requests (RFC 9110 section 13): it gives the resources of
// an API an ETag, answers 304, and carries out a change only if its conditions hold. It knows
// nothing of how the API is reached.
package conditional
