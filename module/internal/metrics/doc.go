// Package metrics holds the gateway's Prometheus collectors: one set for the whole process,
// whose values survive a reload, and their registration with the registry of each
// configuration that is loaded. Labels come from closed sets; no client, user, address or
// path of a request ever becomes one.
package metrics
