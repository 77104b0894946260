// Package move copies the records of one store into another one that is empty, each with its own expiry, and compares them
// afterwards. It can be interrupted and begun again. It knows neither Caddy nor the kinds of stores.
package move
