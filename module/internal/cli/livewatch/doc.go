// Package livewatch follows the decisions of a running gateway for `caddy gatehouse watch`: it reads the stream of the
// admin API, connects again when that is reloaded, prints each decision and sums them up. It knows no flags.
package livewatch
