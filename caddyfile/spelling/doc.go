// Package spelling suggests the word that a misspelt one was probably meant to be.
package spelling
