// Package backup looks at the records of a whole store: what a copy contains, whether a secret belongs to it, and what must
// not come back to life with an old one. It knows neither Caddy nor the form in which a store keeps records.
package backup
