// Package parse reads the arguments of a word of the Caddyfile: texts, numbers, durations,
// sizes, choices and names of versions. Its errors name file, line and word and say what was
// expected. It does not know which words there are.
package parse
