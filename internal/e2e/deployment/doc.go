// Package deployment tests the ways to run the gateway that deploy has: the systemd unit, the Dockerfile
// and the Helm chart.
package deployment
