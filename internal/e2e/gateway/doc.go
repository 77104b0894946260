// Package gateway holds the cases that are judged from outside: requests and exact
// answers of a gateway that was loaded from a Caddyfile. It has no code of its own.
package gateway
