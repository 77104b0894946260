package adminapi

import (
	"time"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
)

// Where a client is kept.
const (
	SourceConfig = "config"
	SourceStore  = "store"
)

// Client has no secret and no hash of one.
type Client struct {
	Source string `json:"source"` // SourceConfig or SourceStore
	clientstore.Definition
}

// ClientWithSecret is a client that has just got a secret.
type ClientWithSecret struct {
	Client
	// Secret is shown only once; "" for a client that has none.
	Secret string `json:"secret,omitempty"`
}

// User has no part of the password.
type User struct {
	ID       string         `json:"id"`
	Username string         `json:"username"`
	Name     string         `json:"name,omitempty"`
	Nickname string         `json:"nickname,omitempty"`
	Picture  string         `json:"picture,omitempty"`
	Email    string         `json:"email,omitempty"`
	Phone    string         `json:"phone,omitempty"`
	Locked   bool           `json:"locked"`
	Claims   map[string]any `json:"claims,omitempty"`
}

// UserWithPassword is a user with a new password, which is shown only once.
type UserWithPassword struct {
	User
	Password string `json:"password,omitempty"`
}

// Grant is what a user granted to a client. Its id is no credential: refresh tokens also contain
// a secret.
type Grant struct {
	ID        string    `json:"id"`
	Client    string    `json:"client"`
	Scopes    []string  `json:"scopes"`
	Resources []string  `json:"resources,omitempty"`
	IssuedAt  time.Time `json:"issued_at"`
	UsedAt    time.Time `json:"used_at"` // when its refresh token was last exchanged
	ExpiresAt time.Time `json:"expires_at"`
}
