// Package password checks user names and passwords, for the login page and the password grant
// alike: it limits guessing by name, user, address and browser, and bounds how many passwords
// are hashed at a time. It knows neither pages nor sessions.
package password
