// Package ending owns the end of users and of user-and-client pairs: one record for each
// end, the epochs that sessions, codes, grants and tokens are compared by, and the
// clean-up of what is dead. It refuses to know HTTP, tokens' form and who asks for an end.
package ending
