// Package book tests the pages of docs: it saves their files, runs their commands in the order of the
// page, and compares what the commands print with the page.
package book
