// Package doctor finds what is wrong with a configuration and with an issuer as this machine
// reaches it. It knows neither the admin API nor the terminal; a running gateway checks its own
// store, keys and directory.
package doctor
