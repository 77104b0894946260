// Package turns bounds how much costly work is done at once, and shares it fairly among callers.
package turns
