// Package consent remembers what users have allowed clients, and decides what a remembered
// consent covers. It knows neither pages nor requests.
package consent
