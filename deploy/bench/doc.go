// The command bench measures what a request costs behind Gatehouse, beside bare Caddy and other
// gateways: it starts them all, sends requests to each in turn, and prints CPU time, latency
// and memory as a table, as JSON and as a chart. README.md says what the figures mean.
package main
