package gateway

import "fmt"

// subject is the id of the user that the path names, and whether the directory knows it.
// What users have granted is kept by id, also of users of a directory that is not ours
// and of users who are gone.
func (c *adminCall) subject() (id string, known bool, err error) {
	_, known, err = c.users.Lookup(c.r.Context(), c.names[0])
	return c.names[0], known, err
}

func (c *adminCall) noUser() error {
	return notFound(fmt.Sprintf("there is no user %s", c.names[0]))
}
