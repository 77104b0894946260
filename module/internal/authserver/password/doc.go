// Package password checks user names and passwords for the login page and the password grant. It limits guessing by
// name, user, address and browser, and the number of passwords hashed at a time.
package password
