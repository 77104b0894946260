// Package asowner lets a process that runs as root act as the user who owns the path to a file. It opens no files itself.
package asowner
