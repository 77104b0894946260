package oauth

import (
	"fmt"
	"time"
)

// GrantType is the grant_type of a token request.
type GrantType string

// The grant types.
const (
	AuthorizationCode GrantType = "authorization_code" // RFC 6749 4.1.3
	RefreshToken      GrantType = "refresh_token"      // RFC 6749 6
	ClientCredentials GrantType = "client_credentials" // RFC 6749 4.4
	// DeviceCode is RFC 8628 section 3.4.
	DeviceCode GrantType = "urn:ietf:params:oauth:grant-type:device_code"
)

// The deprecated grant types (RFC 9700 sections 2.1.2 and 2.4). A client may have one until a configured date.
const (
	Implicit GrantType = "implicit" // RFC 6749 4.2: response_type=token
	Password GrantType = "password" // RFC 6749 4.3
)

// DeprecatedGrantTypes lists those that a client may only have until a date.
var DeprecatedGrantTypes = []GrantType{Implicit, Password}

// OptionalGrantTypes lists those that are offered only while some client has them. Otherwise they
// are unknown grant types.
var OptionalGrantTypes = []GrantType{DeviceCode, Implicit, Password}

// GrantTypes lists those a client may be configured with.
var GrantTypes = []GrantType{AuthorizationCode, RefreshToken, ClientCredentials, DeviceCode}

// shortDeviceCode is what people may write for DeviceCode.
const shortDeviceCode = "device_code"

// NamedGrant is the grant type with this name or short name.
func NamedGrant(name string) GrantType {
	if name == shortDeviceCode {
		return DeviceCode
	}
	return GrantType(name)
}

// ParseEnd parses the day (YYYY-MM-DD) at whose start in UTC a deprecated grant ends.
func ParseEnd(day string) (time.Time, error) {
	end, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, fmt.Errorf("the end %q must be a day written as YYYY-MM-DD", day)
	}
	return end, nil
}
