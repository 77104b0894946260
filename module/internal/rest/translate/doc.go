// Package translate writes an upstream's answer to the client in the client's form. It decides which
// answers are touched, decompresses and decodes them, finds the JSON behind what a script has printed in
// front, frames lists, and corrects the header. Package answer tells it what to do with an answer; failures
// of the upstream are handled by package envelope.
package translate
