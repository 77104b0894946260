package userimport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// fields are the columns of a CSV file and the members of a JSON line. A column may also be `claims.` with a name.
const fields = "id, username, password_hash, password, name, nickname, picture, email, phone, locked, claims"

// claimColumn begins the name of a column that has one claim.
const claimColumn = "claims."

// textOf returns the field of a name that is a text, or nil.
func textOf(u *adminapi.ImportedUser, name string) *string {
	switch name {
	case "id":
		return &u.ID
	case "username":
		return &u.Username
	case "password_hash":
		return &u.PasswordHash
	case "password":
		return &u.Password
	case "name":
		return &u.Name
	case "nickname":
		return &u.Nickname
	case "picture":
		return &u.Picture
	case "email":
		return &u.Email
	case "phone":
		return &u.Phone
	}
	return nil
}

// isColumn reports whether a CSV file may have a column of this name.
func isColumn(name string) bool {
	claim, isClaim := strings.CutPrefix(name, claimColumn)
	return textOf(new(adminapi.ImportedUser), name) != nil || name == "locked" || name == "claims" || isClaim && claim != ""
}

// setColumn puts a cell that is not empty into a user. reason says why it cannot be one of this column.
func setColumn(u *adminapi.ImportedUser, column, cell string) (reason string) {
	if text := textOf(u, column); text != nil {
		*text = cell
		return ""
	}
	switch column {
	case "locked":
		locked, err := strconv.ParseBool(strings.ToLower(cell))
		if err != nil {
			return expectedType(column)
		}
		u.Locked = locked
		return ""
	case "claims":
		var claims map[string]any
		if !strings.HasPrefix(cell, "{") || json.Unmarshal([]byte(cell), &claims) != nil {
			return expectedType(column)
		}
		for name, value := range claims {
			setClaim(u, name, value)
		}
		return ""
	}
	name := strings.TrimPrefix(column, claimColumn)
	var value any = cell
	// A number stays a text: 0123 may be a number of something.
	if cell == "true" || cell == "false" || strings.HasPrefix(cell, "[") || strings.HasPrefix(cell, "{") {
		if json.Unmarshal([]byte(cell), &value) != nil {
			return "is no valid JSON"
		}
	}
	setClaim(u, name, value)
	return ""
}

func setClaim(u *adminapi.ImportedUser, name string, value any) {
	if u.Claims == nil {
		u.Claims = make(map[string]any)
	}
	u.Claims[name] = value
}

// expectedType says what a field must be.
func expectedType(field string) string {
	switch field {
	case "locked":
		return "expected true or false"
	case "claims":
		return "expected a JSON object"
	}
	return "expected a text"
}

// decodeUser reads a JSON object. reason is empty if it is a user.
func decodeUser(text []byte, u *adminapi.ImportedUser) (field, reason string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(u)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return kind.Field, expectedType(kind.Field)
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		return "", "has an unknown field; expected some of " + fields
	case err != nil:
		return "", "is no JSON object"
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", "is more than one JSON object"
	}
	return "", ""
}
