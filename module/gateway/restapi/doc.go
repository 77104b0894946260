// Package restapi is the Caddy handler `api_rest`: its configuration, and the order of the stages
// that a request passes. What the stages do is in packages below module/internal/rest, which know
// no Caddy.
//
// The way of a request, with the files that lead it (serve.go has the whole):
//
//   - Match: package version chooses the version, routes the operation. A [part] (jobs.go,
//     openapi.go) may answer before the declared resources are looked at.
//   - Read the request: package request reads the body. The result is an [operation.Call], which
//     the following stages pass on.
//   - Around the operation: package idempotent (idempotency.go) and package conditional; batch
//     answers a PATCH of a collection.
//   - Ask the API: upstream.go makes the API's request out of Caddy's parts; packages upstream,
//     signin and conceal add what the gateway sends itself (signin.go, revealtransport.go).
//   - Translate and write the answer (operate.go): package exchange leads it through envelope and
//     translate, package headerfilter removes header fields, package cursorpages joins the
//     parts of a list.
//
// Stages return an *envelope.Refusal; errors.go turns it into Caddy's error, once.
package restapi
