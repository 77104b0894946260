// Package adminapi has what the gateway's admin API and its callers agree on: its paths and the JSON of
// its responses.
package adminapi
