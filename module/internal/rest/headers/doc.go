// Package headers owns the list of header fields that an upstream's answer may bring to a
// client, and the rules for those that an owner names besides. It knows neither Caddy nor
// what is in an answer.
package headers
