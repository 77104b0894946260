// Package crossdevice handles requests that a person confirms on another device than the one
// they started on: their codes, who may scan, decide and poll, and waiting for the outcome. A
// ticket is one record that changes by compare-and-swap, so any node can serve any step. The
// package knows no HTTP and no OAuth: authserver/confirm has the pages on which a person decides,
// authserver/qrlogin and grant tell the device that waits what a confirmed ticket is worth.
package crossdevice
