// Package openapi generates the description of an API (OpenAPI 3.1) from its declared resources, lists,
// constraints, jobs and errors. Permissions are given to it, and it serves nothing.
package openapi
