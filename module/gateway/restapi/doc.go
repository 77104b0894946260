// Package restapi owns the handler `api_rest`: it wires the packages below module/rest
// to Caddy, carries requests to the upstream and answers back, and decides nothing of
// what they mean.
//
// How its parts fit together, for whoever adds one:
//
//   - A [call] is one client's request, its version chosen. A [part] may answer it before
//     the declared resources are looked at (jobs, the OpenAPI document).
//   - An [operation] answers one declared operation. [REST.operate] is the plain one; what
//     wraps around an operation (idempotency, ETags) is put there by [REST.wrap], and sees
//     the client's body, the match and the writer.
//   - [request] makes a request of the upstream's out of nothing but a description, for
//     a client's request in the background of which it runs, or for nobody: with its own
//     replacer, variables and header. [route] is where it goes. A batch's items and a job
//     run through [REST.alone], which has a recorder with a cap, turns errors and panics
//     into an answer, and applies the dialect.
package restapi
