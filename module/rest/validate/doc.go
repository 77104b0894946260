// Package validate checks request bodies: a body must be one JSON object with one meaning, and satisfy
// the constraints that the configuration puts on its members. A refusal names the member.
package validate
