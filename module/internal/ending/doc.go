// Package ending ends everything that a user, or a client on behalf of a user, was issued: it writes one record per
// end, compares it with the epochs that sessions, codes, grants and tokens carry, and deletes what is dead. It knows
// nothing of HTTP or token formats, nor of who asks for an end.
package ending
