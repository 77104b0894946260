// Package explain follows a request, which nobody sends, or a token through the routes of a configuration:
// which guards judge it and how, which limits it passes and which handler answers. It reads
// configurations and asks the guard's own decision; it knows no running gateway and no terminal.
package explain
