package admin

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/userstore"
)

// user is the one that the path names, by id or, for users kept in the store, by name.
func (c *call) user() (directory.User, error) {
	var found [2]directory.User
	var known [2]bool
	var err error
	by := c.query.Get("by")
	if by != "username" {
		if found[0], known[0], err = c.Users.Lookup(c.r.Context(), c.names[0]); err != nil {
			return directory.User{}, err
		}
	}
	if kept, err := c.kept(); err == nil && by != "id" {
		if found[1], known[1], err = kept.Find(c.r.Context(), c.names[0]); err != nil {
			return directory.User{}, err
		}
	}
	switch {
	case known[0] && known[1] && found[0].ID != found[1].ID:
		return directory.User{}, conflict("", c.names[0]+" is the id of one user and the user name of another: say which with by=id or by=username")
	case known[0]:
		return found[0], nil
	case known[1]:
		return found[1], nil
	}
	return directory.User{}, c.noUser()
}

// subject is the id of the user that the path names, and whether the directory knows it.
// What users have granted is kept by id, also of users of another directory and of
// users who are gone.
func (c *call) subject() (id string, known bool, err error) {
	u, err := c.user()
	if refused := (*refusal)(nil); errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return c.names[0], false, nil
	}
	return u.ID, true, err
}

// editUser serves changes of the user that the path names, where users can be changed.
func editUser(edit func(c *call, kept *userstore.Users, id string) (any, error)) handle {
	return func(c *call) (any, error) {
		kept, err := c.kept()
		if err != nil {
			return nil, err
		}
		u, err := c.user()
		if err != nil {
			return nil, err
		}
		return edit(c, kept, u.ID)
	}
}

// kept returns the users in the store, or a refusal that names their directory.
func (c *call) kept() (*userstore.Users, error) {
	if users, ok := c.Users.(*userstore.Users); ok {
		return users, nil
	}
	return nil, conflict("", fmt.Sprintf("the users of this gateway live in the directory %q, not in the store: list and change them there; `grant` works for them all the same", c.UsersIn))
}

func (c *call) noUser() error {
	message := fmt.Sprintf("there is no user %s", c.names[0])
	if _, err := c.kept(); err != nil {
		message += "; users of this directory are named by their id here"
	}
	return notFound(message)
}
