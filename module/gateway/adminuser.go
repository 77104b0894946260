package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// newPassword is what a user gets: a password that was chosen, or one that is made here.
type newPassword struct {
	Password string `json:"password"`
	Generate bool   `json:"generate_password"`
}

func (p newPassword) value() (string, error) {
	switch {
	case p.Generate && p.Password != "":
		return "", badField("password", "give a password or generate_password, not both")
	case p.Generate:
		return secret.ID(), nil
	case p.Password == "":
		return "", badField("password", "expected a password, or generate_password")
	}
	return p.Password, nil
}

func (p newPassword) shown(value string) string {
	if p.Generate {
		return value
	}
	return ""
}

func listUsers(c *adminCall) (adminAnswer, error) {
	after, limit, err := c.page()
	if err != nil {
		return adminAnswer{}, err
	}
	kept, err := c.kept()
	if err != nil {
		return adminAnswer{}, err
	}
	users, err := kept.List(c.r.Context(), after, limit)
	if err != nil {
		return adminAnswer{}, err
	}
	out := adminapi.List[adminapi.User]{Items: []adminapi.User{}}
	for _, u := range users {
		out.Items = append(out.Items, adminapi.User(u))
	}
	if len(users) == limit {
		out.Next = users[limit-1].ID
	}
	return okay(out)
}

func getUser(c *adminCall) (adminAnswer, error) {
	if _, err := c.query("by"); err != nil {
		return adminAnswer{}, err
	}
	u, err := c.user()
	if err != nil {
		return adminAnswer{}, err
	}
	return okay(adminapi.User(u))
}

func createUser(c *adminCall) (adminAnswer, error) {
	var in struct {
		Username string         `json:"username"`
		Name     string         `json:"name"`
		Nickname string         `json:"nickname"`
		Picture  string         `json:"picture"`
		Email    string         `json:"email"`
		Phone    string         `json:"phone"`
		Claims   map[string]any `json:"claims"`
		newPassword
	}
	if _, err := c.query(); err != nil {
		return adminAnswer{}, err
	}
	if err := c.read(&in); err != nil {
		return adminAnswer{}, err
	}
	kept, err := c.kept()
	if err != nil {
		return adminAnswer{}, err
	}
	password, err := in.value()
	if err != nil {
		return adminAnswer{}, err
	}
	u, err := kept.Create(c.r.Context(), directory.User{
		Username: in.Username, Name: in.Name, Nickname: in.Nickname, Picture: in.Picture, Email: in.Email, Phone: in.Phone, Claims: in.Claims,
	}, password)
	if err != nil {
		return adminAnswer{}, c.userError(err)
	}
	c.record(audit.Event{Name: audit.UserChanged, Subject: u.ID, Reason: "created"})
	return adminAnswer{
		status: http.StatusCreated, location: adminapi.Path("users", u.ID),
		body: adminapi.UserWithPassword{User: adminapi.User(u), Password: in.shown(password)},
	}, nil
}

func updateUser(c *adminCall) (adminAnswer, error) {
	body, err := c.body()
	if err != nil {
		return adminAnswer{}, err
	}
	kept, id, err := c.editable()
	if err != nil {
		return adminAnswer{}, err
	}
	var after directory.User
	err = kept.Update(c.r.Context(), id, func(u *directory.User) error {
		v := adminapi.User(*u)
		before := v
		if err := decodeBody(body, &v); err != nil {
			return err
		}
		for field, changed := range map[string]bool{"id": v.ID != before.ID, "username": v.Username != before.Username} {
			if changed {
				return badField(field, "this never changes")
			}
		}
		if v.Locked != before.Locked {
			return badField("locked", "lock and unlock are requests of their own")
		}
		*u = directory.User(v)
		after = *u
		return nil
	})
	if err != nil {
		return adminAnswer{}, c.userError(err)
	}
	c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "updated"})
	return okay(adminapi.User(after))
}

// setLocked locks before it ends what is open, so that nothing begins anew in between.
// Unlocking also ends a lock-out after failed sign-ins, on this node.
func setLocked(locked bool) adminHandle {
	return func(c *adminCall) (adminAnswer, error) {
		kept, id, err := c.editable()
		if err != nil {
			return adminAnswer{}, err
		}
		if err := c.read(&struct{}{}); err != nil {
			return adminAnswer{}, err
		}
		if err := kept.SetLocked(c.r.Context(), id, locked); err != nil {
			return adminAnswer{}, c.userError(err)
		}
		if !locked {
			c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "unlocked"})
			u, err := c.userByID(id)
			if err != nil {
				return adminAnswer{}, err
			}
			c.server.EndLockout(id, u.Username)
			return okay(adminapi.User(u))
		}
		c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "locked"})
		if err := c.endSubject(id); err != nil {
			return adminAnswer{}, err
		}
		return getUserByID(c, id)
	}
}

// setPassword ends what was granted with the old password too: whoever knew it may be
// signed in somewhere.
func setPassword(c *adminCall) (adminAnswer, error) {
	kept, id, err := c.editable()
	if err != nil {
		return adminAnswer{}, err
	}
	var in newPassword
	if err := c.read(&in); err != nil {
		return adminAnswer{}, err
	}
	password, err := in.value()
	if err != nil {
		return adminAnswer{}, err
	}
	if err := kept.SetPassword(c.r.Context(), id, password); err != nil {
		return adminAnswer{}, c.userError(err)
	}
	c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "password"})
	if err := c.endSubject(id); err != nil {
		return adminAnswer{}, err
	}
	u, ok, err := kept.Lookup(c.r.Context(), id)
	if err != nil || !ok {
		u = directory.User{ID: id} // the password is in force and is told this once
	}
	c.server.EndLockout(id, u.Username) // what was tried on the old password tells nothing of the new one
	return okay(adminapi.UserWithPassword{User: adminapi.User(u), Password: in.shown(password)})
}

// deleteUser locks first: a crash on the way leaves a locked user, and deleting again
// does the rest.
func deleteUser(c *adminCall) (adminAnswer, error) {
	kept, id, err := c.editable()
	if err != nil {
		return adminAnswer{}, err
	}
	if err := kept.SetLocked(c.r.Context(), id, true); err != nil {
		return adminAnswer{}, c.userError(err)
	}
	if err := c.ending(func(ctx context.Context) error { return c.server.ForgetSubject(ctx, id) }); err != nil {
		return adminAnswer{}, err
	}
	if err := kept.Delete(c.r.Context(), id); err != nil {
		return adminAnswer{}, c.userError(err)
	}
	c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "deleted"})
	return adminAnswer{status: http.StatusNoContent}, nil
}

func (c *adminCall) endSubject(id string) error {
	return c.ending(func(ctx context.Context) error { return c.server.EndSubject(ctx, id) })
}

// endingTimeout bounds the end of what a user has, in a store that is slow.
const endingTimeout = 30 * time.Second

// ending goes on when the caller hangs up: what is half ended is not over.
func (c *adminCall) ending(end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.r.Context()), endingTimeout)
	defer cancel()
	return end(ctx)
}

func getUserByID(c *adminCall, id string) (adminAnswer, error) {
	u, err := c.userByID(id)
	if err != nil {
		return adminAnswer{}, err
	}
	return okay(adminapi.User(u))
}

func (c *adminCall) userByID(id string) (directory.User, error) {
	u, ok, err := c.users.Lookup(c.r.Context(), id)
	if err == nil && !ok {
		err = c.noUser()
	}
	return u, err
}
