// Package openapi generates the description of an API (OpenAPI 3.1) from its declared resources, lists,
// constraints, jobs and errors. It serves them too; permissions are given to it.
package openapi
