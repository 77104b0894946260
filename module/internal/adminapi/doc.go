// Package adminapi is what the gateway's admin API and those who call it agree on: its
// paths and the JSON of its answers. It refuses to know either side.
package adminapi
