// Package arch owns the direction of the arrows between the packages: its test reads
// every import and fails on one that the table does not allow.
package arch
