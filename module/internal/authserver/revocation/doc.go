// Package revocation is the endpoint at which clients revoke their tokens (RFC 7009). It knows
// neither how clients authenticate nor how a grant family is stored.
package revocation
