package admin

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

func listUsers(c *call) (answer, error) {
	after, limit, err := c.page()
	if err != nil {
		return answer{}, err
	}
	kept, err := c.kept()
	if err != nil {
		return answer{}, err
	}
	users, err := kept.List(c.r.Context(), after, limit)
	if err != nil {
		return answer{}, err
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

func getUser(c *call) (answer, error) {
	if _, err := c.query("by"); err != nil {
		return answer{}, err
	}
	u, err := c.user()
	if err != nil {
		return answer{}, err
	}
	return okay(adminapi.User(u))
}

func createUser(c *call) (answer, error) {
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
		return answer{}, err
	}
	if err := c.readBody(&in); err != nil {
		return answer{}, err
	}
	kept, err := c.kept()
	if err != nil {
		return answer{}, err
	}
	password, err := in.value()
	if err != nil {
		return answer{}, err
	}
	u, err := kept.Create(c.r.Context(), directory.User{
		Username: in.Username, Name: in.Name, Nickname: in.Nickname, Picture: in.Picture, Email: in.Email, Phone: in.Phone, Claims: in.Claims,
	}, password)
	if err != nil {
		return answer{}, c.userError(err)
	}
	c.record(audit.Event{Name: audit.UserChanged, Subject: u.ID, Reason: "created"})
	return answer{
		status: http.StatusCreated, location: adminapi.Path("users", u.ID),
		body: adminapi.UserWithPassword{User: adminapi.User(u), Password: in.shown(password)},
	}, nil
}

func updateUser(c *call) (answer, error) {
	body, err := c.body()
	if err != nil {
		return answer{}, err
	}
	kept, id, err := c.editable()
	if err != nil {
		return answer{}, err
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
		return answer{}, c.userError(err)
	}
	c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "updated"})
	return okay(adminapi.User(after))
}

// setLocked locks before it ends what is open, so that nothing begins anew in between.
// Unlocking also ends a lock-out after failed sign-ins, on this node.
func setLocked(locked bool) handle {
	return func(c *call) (answer, error) {
		kept, id, err := c.editable()
		if err != nil {
			return answer{}, err
		}
		if err := c.readBody(&struct{}{}); err != nil {
			return answer{}, err
		}
		if err := kept.SetLocked(c.r.Context(), id, locked); err != nil {
			return answer{}, c.userError(err)
		}
		if !locked {
			c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "unlocked"})
			u, err := c.userByID(id)
			if err != nil {
				return answer{}, err
			}
			c.Server.EndLockout(id, u.Username)
			return okay(adminapi.User(u))
		}
		c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "locked"})
		if err := c.endSubject(id); err != nil {
			return answer{}, err
		}
		return getUserByID(c, id)
	}
}

// setPassword ends what was granted with the old password too: whoever knew it may be
// signed in somewhere.
func setPassword(c *call) (answer, error) {
	kept, id, err := c.editable()
	if err != nil {
		return answer{}, err
	}
	var in newPassword
	if err := c.readBody(&in); err != nil {
		return answer{}, err
	}
	password, err := in.value()
	if err != nil {
		return answer{}, err
	}
	if err := kept.SetPassword(c.r.Context(), id, password); err != nil {
		return answer{}, c.userError(err)
	}
	c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "password"})
	if err := c.endSubject(id); err != nil {
		return answer{}, err
	}
	u, ok, err := kept.Lookup(c.r.Context(), id)
	if err != nil || !ok {
		u = directory.User{ID: id} // the password is in force and is told this once
	}
	c.Server.EndLockout(id, u.Username) // what was tried on the old password tells nothing of the new one
	return okay(adminapi.UserWithPassword{User: adminapi.User(u), Password: in.shown(password)})
}

// deleteUser locks first: a crash on the way leaves a locked user, and deleting again
// does the rest.
func deleteUser(c *call) (answer, error) {
	kept, id, err := c.editable()
	if err != nil {
		return answer{}, err
	}
	if err := kept.SetLocked(c.r.Context(), id, true); err != nil {
		return answer{}, c.userError(err)
	}
	if err := c.ending(func(ctx context.Context) error { return c.Server.ForgetSubject(ctx, id) }); err != nil {
		return answer{}, err
	}
	if err := kept.Delete(c.r.Context(), id); err != nil {
		return answer{}, c.userError(err)
	}
	c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "deleted"})
	return answer{status: http.StatusNoContent}, nil
}

func (c *call) endSubject(id string) error {
	return c.ending(func(ctx context.Context) error { return c.Server.EndSubject(ctx, id) })
}

// endingTimeout bounds the end of what a user has, in a store that is slow.
const endingTimeout = 30 * time.Second

// ending goes on when the caller hangs up: what is half ended is not over.
func (c *call) ending(end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.r.Context()), endingTimeout)
	defer cancel()
	return end(ctx)
}

func getUserByID(c *call, id string) (answer, error) {
	u, err := c.userByID(id)
	if err != nil {
		return answer{}, err
	}
	return okay(adminapi.User(u))
}

func (c *call) userByID(id string) (directory.User, error) {
	u, ok, err := c.Users.Lookup(c.r.Context(), id)
	if err == nil && !ok {
		err = c.noUser()
	}
	return u, err
}
