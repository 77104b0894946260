// Package monitoring tests what operators see of a gateway from Prometheus: the metrics and their
// documentation, the queries of the dashboard, and alerts that fire. It contains only tests.
package monitoring
