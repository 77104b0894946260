// Package apierrors parses api_errors, and the options for how an upstream reports errors, which
// api_rest shares. It makes no decisions about responses.
package apierrors
