// Package crossdevice owns requests that a person confirms on another device than the
// one they began on: their codes, who may scan, decide and poll, and the waiting for the
// outcome. A ticket is one record moved by compare-and-swap, so that any node may be asked.
// It knows no HTTP and no OAuth: what a confirmed ticket is worth is its caller's.
package crossdevice
