// Package envelope defines the common format of errors, its codes and two media types, and converts
// an upstream's errors into it. It knows neither Caddy nor OAuth, and never changes a response that
// is not an error.
package envelope
