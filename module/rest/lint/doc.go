// Package lint checks the names of resources against conventions: plural nouns, lower case with
// hyphens, no verbs, little nesting. It examines paths and words, and rejects nothing itself.
package lint
