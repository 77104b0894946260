// Package asowner has a process of root act as the user to whom the way to a file belongs. It opens no files itself.
package asowner
