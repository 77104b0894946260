package restapi

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// mayRead returns an error if the guards in front would not let the client read what it asks to change.
func (c *call) mayRead() error {
	scopes, refused := handler.RefusesMethod(c.Request, http.MethodGet)
	if !refused && !c.forbiddenByVersion(http.MethodGet, c.choice.Path) {
		return nil
	}
	message := "only who may read the resource may make a change depend on its entity tag"
	if len(scopes) > 0 {
		message += "; that needs the scope " + strings.Join(scopes, " ")
	}
	return &envelope.Refusal{Status: http.StatusForbidden, Code: string(guard.InsufficientScope), Message: message}
}
