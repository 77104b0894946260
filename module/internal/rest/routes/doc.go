// Package routes compiles declared resources to a table of operations, and finds the operation that a
// request asks for. How requests are mapped and what becomes of answers it leaves to packages mapping and
// answer; it sends nothing.
package routes
