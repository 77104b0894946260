// Package book runs the pages of docs: their files are saved, their commands run in the order of the
// page, and what these print is compared with the page.
package book
