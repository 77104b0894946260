// Package apierrors parses api_errors, and the words that say how an upstream reports errors,
// which api_rest has too. It decides nothing about answers.
package apierrors
