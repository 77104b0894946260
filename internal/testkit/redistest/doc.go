// Package redistest runs Redis for tests: real servers for this test process only, alone, under
// Sentinels or as a cluster, and a proxy that breaks connections as networks do. It knows no client
// library and nothing of what is stored.
package redistest
