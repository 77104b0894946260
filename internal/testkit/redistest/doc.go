// Package redistest runs real Redis servers for one test process: a single server, a primary with Sentinels, or a
// Cluster, and a proxy that simulates network faults. It depends on no client library and does not know what is stored.
package redistest
