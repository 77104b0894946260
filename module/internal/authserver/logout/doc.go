// Package logout signs people out of this browser, at their own request or a client's (OpenID
// Connect RP-Initiated Logout 1.0). Ending everything of a user belongs to package account.
package logout
