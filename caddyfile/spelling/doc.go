// Package spelling suggests the correct word for a misspelt one.
package spelling
