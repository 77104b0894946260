// Package rpc calls APIs that speak JSON-RPC or XML-RPC: it compiles templates of parameters,
// fills them in, and reads results and faults from answers. Values are encoded and never
// change the structure of a call. It knows nothing of HTTP.
package rpc
