// Package console does what a page of documentation tells its reader to do: it saves the files, runs the
// commands in the order of the page, and compares what they print with what the page shows. It does not
// know what a page is about.
package console
