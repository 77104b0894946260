// Package relying shows that relying parties of others, unmodified, sign users in with
// the gateway: Debian's Apache with mod_auth_openidc, and openid-client with all that it
// can do. It holds tests only.
package relying
