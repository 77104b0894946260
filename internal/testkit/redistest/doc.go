// Package redistest owns Redis for tests: real servers of the test process's own, alone,
// under sentinels or as a cluster, and a proxy that does to a connection what networks do.
// It knows no client library and nothing of what is stored.
package redistest
