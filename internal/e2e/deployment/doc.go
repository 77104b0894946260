// Package deployment tests what deploy gives to run the gateway with: the systemd unit.
package deployment
