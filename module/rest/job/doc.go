// Package job owns work that outlives its request: its states and their transitions,
// the queue, leases, and the fetching of a file that a job needs. It knows no upstream
// and no store: both are given to it.
package job
