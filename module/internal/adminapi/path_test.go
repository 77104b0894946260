package adminapi

import "testing"

func TestNamesAreEscapedInAdminPaths(t *testing.T) {
	for name, want := range map[string]string{
		"reader": "/gatehouse/clients/reader", "a/b": "/gatehouse/clients/a%2Fb", "..": "/gatehouse/clients/%2E%2E", ".": "/gatehouse/clients/%2E",
		"a?b#c": "/gatehouse/clients/a%3Fb%23c", "../x": "/gatehouse/clients/..%2Fx", "...": "/gatehouse/clients/...",
	} {
		if got := Path("clients", name); got != want {
			t.Errorf("%q became %s, want %s", name, got, want)
		}
	}
}
