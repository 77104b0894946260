// Package logout signs people out of this browser, at their own wish or at a client's (OpenID
// Connect RP-Initiated Logout 1.0). Ending everything of a user belongs to package account.
package logout
