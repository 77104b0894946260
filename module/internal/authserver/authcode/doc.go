// Package authcode keeps authorization codes until they are redeemed: it limits how many a user
// gets, checks that what was allowed still stands, and revokes a code without forgetting it. How
// a code is made belongs to those who issue it; how it is redeemed, to package grant.
package authcode
