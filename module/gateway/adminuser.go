package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/audit"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/userstore"
)

// userView is a user as the admin API shows it: nothing of the password.
type userView struct {
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

// newUserView is what is answered when a password was made here: it is shown this once.
type newUserView struct {
	userView
	Password string `json:"password,omitempty"`
}

func viewUser(u directory.User) userView { return userView(u) }

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
	out := list[userView]{Items: []userView{}}
	for _, u := range users {
		out.Items = append(out.Items, viewUser(u))
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
	return okay(viewUser(u))
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
		status: http.StatusCreated, location: adminPath("users", u.ID),
		body: newUserView{viewUser(u), in.shown(password)},
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
		v := viewUser(*u)
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
	return okay(viewUser(after))
}

// setLocked locks before it ends what is open, so that nothing begins anew in between.
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
			return getUserByID(c, id)
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
	return okay(newUserView{viewUser(u), in.shown(password)})
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
	if err := c.endingOf(id, c.server.ForgetSubject); err != nil {
		return adminAnswer{}, err
	}
	if err := kept.Delete(c.r.Context(), id); err != nil {
		return adminAnswer{}, c.userError(err)
	}
	c.record(audit.Event{Name: audit.UserChanged, Subject: id, Reason: "deleted"})
	return adminAnswer{status: http.StatusNoContent}, nil
}

func (c *adminCall) endSubject(id string) error { return c.endingOf(id, c.server.EndSubject) }

// endingOf goes on when the caller hangs up: what is half ended is not over.
func (c *adminCall) endingOf(id string, end func(context.Context, string) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.r.Context()), callTimeout)
	defer cancel()
	return end(ctx, id)
}

func getUserByID(c *adminCall, id string) (adminAnswer, error) {
	u, ok, err := c.users.Lookup(c.r.Context(), id)
	if err != nil {
		return adminAnswer{}, err
	}
	if !ok {
		return adminAnswer{}, c.noUser()
	}
	return okay(viewUser(u))
}

// user is the one that the path names, by id or, for users kept in the store, by name.
func (c *adminCall) user() (directory.User, error) {
	by := c.r.URL.Query().Get("by")
	if by != "" && by != "id" && by != "username" {
		return directory.User{}, badField("by", "expected id or username")
	}
	var found [2]directory.User
	var known [2]bool
	var err error
	if by != "username" {
		if found[0], known[0], err = c.users.Lookup(c.r.Context(), c.names[0]); err != nil {
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
		return directory.User{}, conflict(c.names[0] + " is the id of one user and the user name of another: say which with by=id or by=username")
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
func (c *adminCall) subject() (id string, known bool, err error) {
	u, err := c.user()
	if err != nil && statusOf(err) == http.StatusNotFound {
		return c.names[0], false, nil
	}
	return u.ID, true, err
}

// editable is the id of the user that the path names, where users can be changed.
func (c *adminCall) editable() (*userstore.Users, string, error) {
	if _, err := c.query("by"); err != nil {
		return nil, "", err
	}
	kept, err := c.kept()
	if err != nil {
		return nil, "", err
	}
	u, err := c.user()
	return kept, u.ID, err
}

// kept are the users in the store, or a refusal that says where they are instead.
func (c *adminCall) kept() (*userstore.Users, error) {
	if users, ok := c.users.(*userstore.Users); ok {
		return users, nil
	}
	return nil, conflict(fmt.Sprintf("the users of this gateway live in the directory %q, not in the store: list and change them there; `grant` works for them all the same", c.usersIn))
}

func (c *adminCall) noUser() error {
	message := fmt.Sprintf("there is no user %s", c.names[0])
	if _, err := c.kept(); err != nil {
		message += "; users of this directory are named by their id here"
	}
	return notFound(message)
}

// userError gives an error of the users in the store its answer.
func (c *adminCall) userError(err error) error {
	switch {
	case errors.Is(err, userstore.ErrNotFound):
		return c.noUser()
	case errors.Is(err, userstore.ErrTaken):
		return fail(http.StatusConflict, &failure{code: "conflict", field: "username", message: "username: it is another user's already"})
	case errors.Is(err, userstore.ErrInvalid):
		return fail(http.StatusBadRequest, &failure{code: "invalid_parameter", message: err.Error(), field: userField(err.Error())})
	}
	return err
}

// userField finds the field that a complaint about a user speaks of.
func userField(complaint string) string {
	for _, field := range []string{"username", "password", "picture", "claims"} {
		if strings.Contains(complaint, "the "+field) {
			return field
		}
	}
	return ""
}
