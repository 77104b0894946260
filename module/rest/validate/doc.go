// Package validate owns what the body of a request must be: one JSON object without
// doubt about its meaning, and the constraints that a configuration puts on its
// members. It answers with a refusal that names the member.
package validate
