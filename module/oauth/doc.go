// Package oauth holds the vocabulary of the protocol: grant types, scopes, error codes, PKCE, redirect
// URIs, and the client as the protocol sees it. It uses only the standard library, and knows nothing
// of storage, HTTP handlers or token formats.
package oauth
