// Package audit owns the vocabulary of the audit trail: which events there are and
// what each says. It refuses to know where events go; whoever acts records them with
// a [Sink].
package audit
