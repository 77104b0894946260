// Package userrecords walks the records of one user in the store, page by page.
package userrecords
