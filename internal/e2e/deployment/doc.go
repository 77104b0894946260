// Package deployment tests what deploy gives to run the gateway with: the systemd unit, the Dockerfile
// and the Helm chart.
package deployment
