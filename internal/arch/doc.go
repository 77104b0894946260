// Package arch tests the structure of the project: which package may import which, the length of files,
// and that the pages about the code name what exists.
package arch
