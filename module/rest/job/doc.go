// Package job runs work that outlives its request: the states of a job and their transitions, the
// queue, leases, and fetching the file that a job needs. The upstream and the store are given to it.
package job
