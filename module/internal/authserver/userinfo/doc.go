// Package userinfo is the UserInfo endpoint of OpenID Connect: who the user of an access token
// is. It knows neither sessions nor how tokens are made.
package userinfo
