package store

import "time"

// User is a resource owner of the directory that is kept in the store. It is stored
// under its ID, with [UsersParent] as parent.
type User struct {
	schema
	ID       string         `json:"id"`
	Username string         `json:"username"`
	Name     string         `json:"name,omitempty"`
	Nickname string         `json:"nickname,omitempty"`
	Picture  string         `json:"picture,omitempty"`
	Email    string         `json:"email,omitempty"`
	Phone    string         `json:"phone,omitempty"`
	Locked   bool           `json:"locked,omitempty"`
	Claims   map[string]any `json:"claims,omitempty"`
	// PasswordHash is in one of the forms of package password.
	PasswordHash string    `json:"password_hash"`
	CreatedAt    time.Time `json:"created_at"`
	ChangedAt    time.Time `json:"changed_at"`
}

// UsersParent is the parent of all users.
const UsersParent = "users"

// Username says whose a user name is. It is stored under the name's folded form.
type Username struct {
	schema
	ID string `json:"id"`
	// ClaimedAt is when this user got the name: before the user's own record was made.
	ClaimedAt time.Time `json:"at"`
}

// Pairwise is what a user is called at one client, or at all clients of one owner, of
// Variant B. It is kept for ever, with the subject as parent: a name that is derived anew
// would change with the secret it was derived from, and with it who the site knows.
type Pairwise struct {
	schema
	Name    string `json:"name"`
	Subject string `json:"sub"`
	// Of is the client or owner whose name it is.
	Of string `json:"of"`
}
