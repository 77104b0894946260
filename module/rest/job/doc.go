// Package job runs work that outlives its request: it has the states of a job and their transitions,
// the queue, leases, and the fetching of files for jobs. The caller provides the upstream and the
// store.
package job
