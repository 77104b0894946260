// Package directory defines the contract between the gateway and the place where users are kept. How
// passwords are stored and users are edited is up to each directory plugin; package directorytest
// checks plugins against the contract.
package directory

import (
	"context"
	"errors"
)

// MaxPassword is the longest password that is looked at, in bytes. Longer ones
// are refused before any hashing, which would otherwise be a way to burn CPU.
const MaxPassword = 1024

// User is a resource owner.
type User struct {
	// ID is the stable subject of tokens. It never changes and is never reused.
	ID string
	// Username is what the user types to sign in, in its canonical spelling.
	Username string
	Name     string
	Nickname string
	Picture  string // https URL, on loopback also http
	Email    string
	Phone    string
	// Locked users can neither sign in nor refresh what they granted before.
	Locked bool
	// Claims are further attributes. Clients are told those alone that have a standard name and type (OpenID Connect
	// Core section 5.1) and belong to a scope that was granted, at /userinfo: locale or given_name with profile,
	// email_verified with email. A field above counts before a claim of the same name.
	Claims map[string]any
}

// Texts returns the fields that are texts, except for the ID, by their names in configurations.
func (u *User) Texts() map[string]*string {
	return map[string]*string{
		"username": &u.Username, "name": &u.Name, "nickname": &u.Nickname, "picture": &u.Picture, "email": &u.Email, "phone": &u.Phone,
	}
}

// ErrUnclear says that the directory gave an answer about a password that is neither a yes nor a no, or none after it may
// have read the password. What it does for wrong passwords alone tells them apart, so such an attempt to sign in is counted,
// while other faults are not.
var ErrUnclear = errors.New("the answer about a password is unclear")

// Directory finds users. It MUST be safe for concurrent use. Every error is a
// technical one (the answer is 503); a wrong password is no error.
type Directory interface {
	// Identify returns the ID of the user whom this name leads to, locked or not, without a password. Failed sign-ins
	// are counted under it, so it MUST be the ID that Authenticate would return for every spelling of the name: a
	// user name, an email address, other letter case. known is false when there is no such user, and where a
	// directory cannot tell yet; an ID is then a guess, under which failures are counted, and no more. Both MUST cost
	// the same time.
	Identify(ctx context.Context, username string) (id string, known bool, err error)

	// Authenticate returns the user whose name and password these are. ok is false for an unknown name, a wrong
	// password and a locked user alike, and all three MUST cost the same time, that of one password hash. A refusal
	// holds nothing of the user but the ID, and that only where Identify could not tell it before: the failure is
	// then counted under it. An error that may depend on the password matches [ErrUnclear].
	Authenticate(ctx context.Context, username, password string) (u User, ok bool, err error)

	// Lookup returns the user with this ID, locked or not. ok is false when there is none.
	Lookup(ctx context.Context, id string) (u User, ok bool, err error)
}

// Source is what a directory plugin gives the gateway. Several loaded
// configurations that name the same directory share one, by Identity.
type Source interface {
	// Identity returns a comparable value made of everything that shapes the
	// directory. It MUST NOT touch the network.
	Identity() any
	// Open is called at first use. The Directory's Close, if it has one (io.Closer), is called when the last
	// configuration that uses it is gone and its last request is done.
	Open(ctx context.Context) (Directory, error)
}
