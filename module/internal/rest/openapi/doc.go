// Package openapi owns the description of an API (OpenAPI 3.1) that is made from what is
// declared of it: resources, lists, constraints, jobs and errors. Who may do what it is
// told; it serves nothing.
package openapi
