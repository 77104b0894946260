// Package rpc owns calls of APIs that speak JSON-RPC or XML-RPC: it compiles templates of parameters, fills them in, and
// reads results and faults out of answers. Values become JSON values and never change the
// structure of a call. It knows nothing of HTTP.
package rpc
