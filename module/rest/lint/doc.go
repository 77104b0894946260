// Package lint has the rules for names of resources: plural nouns, lower case with hyphens, no verbs,
// little nesting. It looks at paths and words, and rejects nothing itself.
package lint
