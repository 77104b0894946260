package resource

import (
	"fmt"
	"net/http"
)

// Check checks the declarations that need no other resource. Compiling the resource checks the rest.
func (r *Resource) Check() error {
	for _, check := range []func() error{r.checkOff, r.checkQuery, r.checkPass, r.checkWrap, r.checkFailWhen, r.checkXML} {
		if err := check(); err != nil {
			return err
		}
	}
	if _, err := Cookies(r.HeaderUp); err != nil {
		return err
	}
	if r.Created != nil && r.Created.Status != http.StatusCreated {
		return fmt.Errorf("created %d: expected 201", r.Created.Status)
	}
	if r.Deleted != 0 && r.Deleted != http.StatusNoContent {
		return fmt.Errorf("deleted %d: expected 204", r.Deleted)
	}
	if r.List != nil {
		return r.List.Check()
	}
	return nil
}
