package admin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/userstore"
)

// newPassword is what a user gets: a password that was chosen, or one that is made here.
type newPassword struct {
	Password string `json:"password"`
	Generate bool   `json:"generate_password"`
}

// value returns the password, and the same as generated if it is made here and must be shown.
func (p newPassword) value() (password, generated string, err error) {
	switch {
	case p.Generate && p.Password != "":
		return "", "", badField("password", "give a password or generate_password, not both")
	case p.Generate:
		made := secret.ID()
		return made, made, nil
	case p.Password == "":
		return "", "", badField("password", "expected a password, or generate_password")
	}
	return p.Password, "", nil
}

func listUsers(c *call) (any, error) {
	kept, err := c.kept()
	if err != nil {
		return nil, err
	}
	users, err := kept.List(c.r.Context(), c.after, c.limit)
	out := adminapi.List[adminapi.User]{Items: []adminapi.User{}}
	for _, u := range users {
		out.Items = append(out.Items, adminapi.User(u))
	}
	if len(users) == c.limit {
		out.Next = users[c.limit-1].ID
	}
	return out, err
}

func getUser(c *call) (any, error) {
	u, err := c.user()
	return adminapi.User(u), err
}

type newUser struct {
	Username string         `json:"username"`
	Name     string         `json:"name"`
	Nickname string         `json:"nickname"`
	Picture  string         `json:"picture"`
	Email    string         `json:"email"`
	Phone    string         `json:"phone"`
	Claims   map[string]any `json:"claims"`
	newPassword
}

func createUser(c *call, in newUser) (any, error) {
	kept, err := c.kept()
	if err != nil {
		return nil, err
	}
	password, generated, err := in.value()
	if err != nil {
		return nil, err
	}
	u, err := kept.Create(c.r.Context(), directory.User{
		Username: in.Username, Name: in.Name, Nickname: in.Nickname, Picture: in.Picture, Email: in.Email, Phone: in.Phone, Claims: in.Claims,
	}, password)
	if err != nil {
		return nil, err
	}
	c.recordUser(u.ID, "created")
	return reply{http.StatusCreated, adminapi.Path("users", u.ID), adminapi.UserWithPassword{User: adminapi.User(u), Password: generated}}, nil
}

func updateUser(c *call, kept *userstore.Users, id string) (any, error) {
	body, err := c.body()
	if err != nil {
		return nil, err
	}
	var after adminapi.User
	err = kept.Update(c.r.Context(), id, func(u *directory.User) error {
		before := adminapi.User(*u)
		after = before
		if err := decodeBody(body, &after); err != nil {
			return err
		}
		switch {
		case after.ID != before.ID:
			return badField("id", "this never changes")
		case after.Username != before.Username:
			return badField("username", "this never changes")
		case after.Locked != before.Locked:
			return badField("locked", "lock and unlock are requests of their own")
		}
		*u = directory.User(after)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.recordUser(id, "updated")
	return after, nil
}

// lockUser locks before it ends sessions and grants, so that no new one begins in between.
func lockUser(c *call, kept *userstore.Users, id string) (any, error) {
	err := c.readBody(&struct{}{})
	if err == nil {
		err = kept.SetLocked(c.r.Context(), id, true)
	}
	if err != nil {
		return nil, err
	}
	c.recordUser(id, "locked")
	if err := c.endSubject(id); err != nil {
		return nil, err
	}
	u, err := c.userByID(id)
	return adminapi.User(u), err
}

// unlockUser also ends a lock-out after failed sign-ins, on this node.
func unlockUser(c *call, kept *userstore.Users, id string) (any, error) {
	err := c.readBody(&struct{}{})
	if err == nil {
		err = kept.SetLocked(c.r.Context(), id, false)
	}
	if err != nil {
		return nil, err
	}
	c.recordUser(id, "unlocked")
	u, err := c.userByID(id)
	if err == nil {
		c.Server.EndLockout(id, u.Username)
	}
	return adminapi.User(u), err
}

// setPassword ends what was granted with the old password too: whoever knew it may be
// signed in somewhere.
func setPassword(c *call, kept *userstore.Users, id string) (any, error) {
	var in newPassword
	if err := c.readBody(&in); err != nil {
		return nil, err
	}
	password, generated, err := in.value()
	if err != nil {
		return nil, err
	}
	if err := kept.SetPassword(c.r.Context(), id, password); err != nil {
		return nil, err
	}
	c.recordUser(id, "password")
	if err := c.endSubject(id); err != nil {
		return nil, err
	}
	u, ok, err := kept.Lookup(c.r.Context(), id)
	if err != nil || !ok {
		u = directory.User{ID: id} // the password is valid, and is shown only now
	}
	c.Server.EndLockout(id, u.Username) // failed attempts on the old password do not count for the new one
	return adminapi.UserWithPassword{User: adminapi.User(u), Password: generated}, nil
}

// deleteUser says that there is no such user only if no failover of the store can bring that user back: whoever deletes
// again, because the first time failed, takes it for done.
func deleteUser(c *call) (any, error) {
	_, err := editUser(deleteKnownUser)(c)
	if refused := (*refusal)(nil); errors.As(c.refusalOf(err), &refused) && refused.status == http.StatusNotFound {
		kept, unavailable := c.kept()
		if unavailable == nil {
			unavailable = kept.ConfirmGone(c.r.Context(), c.names[0])
		}
		err = cmp.Or(unavailable, err)
	}
	return nil, err
}

// deleteKnownUser locks first: a crash on the way leaves a locked user, and deleting again
// does the rest.
func deleteKnownUser(c *call, kept *userstore.Users, id string) (any, error) {
	err := kept.SetLocked(c.r.Context(), id, true)
	if err == nil {
		err = c.finish(func(ctx context.Context) error { return c.Server.ForgetSubject(ctx, id) })
	}
	if err == nil {
		err = kept.Delete(c.r.Context(), id)
	}
	if err == nil {
		c.recordUser(id, "deleted")
	}
	return nil, err
}

func (c *call) endSubject(id string) error {
	return c.finish(func(ctx context.Context) error { return c.Server.EndSubject(ctx, id) })
}

// endingTimeout bounds the end of what a user has, in a store that is slow.
const endingTimeout = 30 * time.Second

// finish continues when the caller hangs up, so that nothing is left half ended.
func (c *call) finish(end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.r.Context()), endingTimeout)
	defer cancel()
	return end(ctx)
}

func (c *call) userByID(id string) (directory.User, error) {
	u, ok, err := c.Users.Lookup(c.r.Context(), id)
	if err == nil && !ok {
		err = c.noUser()
	}
	return u, err
}

// record puts what was done into the audit trail.
func (c *call) record(e audit.Event) { c.Server.Audit.Record(c.r.Context(), e) }

func (c *call) recordUser(id, change string) {
	c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: change})
}
