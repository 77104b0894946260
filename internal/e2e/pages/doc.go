// Package pages looks at every page that people see, in all states, languages, themes and sizes, as a person
// with a small screen and one with a screen reader do. It contains only tests.
package pages
