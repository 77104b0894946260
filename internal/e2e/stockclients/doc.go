// Package stockclients signs users in with unmodified relying parties: Debian's Apache with
// mod_auth_openidc, openid-client with all that it can do, Auth.js, clients of MCP, and
// libraries for WeChat in Go, Node and Python. It contains only tests.
package stockclients
