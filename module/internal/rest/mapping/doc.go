// Package mapping turns requests of clients into requests for the upstream: the address, the query, the
// body as JSON, form or XML, calls by JSON-RPC and XML-RPC, and what the gateway itself adds. It refuses
// what clients must not ask for. It sends nothing, and knows nothing of answers.
package mapping
