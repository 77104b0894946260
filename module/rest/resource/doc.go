// Package resource declares the resources of a REST interface: the configuration types, and the checks
// that need nothing but one resource. It knows neither requests nor answers; package routes compiles
// what is declared here.
package resource
