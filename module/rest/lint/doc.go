// Package lint owns the rules for names of resources: plural nouns, lower case with
// hyphens, no verbs, little nesting. It knows paths and words, and refuses nothing itself.
package lint
