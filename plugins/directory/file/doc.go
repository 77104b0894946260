// Package file is the user directory gatehouse.directories.file: users in a JSON file that an operator
// edits or another program writes. It defines the format of the file and notices changes, and never
// writes it.
package file
