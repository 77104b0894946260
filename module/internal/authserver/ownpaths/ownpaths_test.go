package ownpaths

import (
	"strings"
	"testing"
)

func TestOwnPathsMatchEverySpelling(t *testing.T) { // S05
	root, below := New("", false), New("/auth", false)
	for path, want := range map[string][2]bool{
		"/token":                            {true, false},
		"/token/":                           {true, false},
		"/token/7":                          {false, false},
		"/tokens":                           {false, false},
		"/TOKEN":                            {true, false},
		"//token":                           {true, false},
		"//host/token":                      {true, false},
		"///host:80/token":                  {true, false},
		"/\\u@host/a/../TOKEN":              {true, false},
		"/%2fhost/token?x":                  {true, false},
		"//host/auth/x":                     {false, true},
		"//host/a/token":                    {false, false},
		"/host/token":                       {false, false},
		"//host":                            {false, false},
		"//":                                {false, false},
		"/a/../token":                       {true, false},
		"/a/%2e%2e/token":                   {true, false},
		"/a\\..\\token":                     {true, false},
		"/token;a=b":                        {true, false},
		"/a;x/..;y/token":                   {true, false},
		"/token .":                          {true, false},
		"/token\x00.png":                    {true, false},
		"/%74oken":                          {true, false},
		"/token?code=x":                     {true, false},
		"/token%3Fcode=x/y":                 {true, false},
		"/token#x":                          {true, false},
		"/a/../token?/../x":                 {true, false},
		"/x?/../token":                      {true, false},
		"/x?to=/token":                      {false, false},
		"/tokens?x":                         {false, false},
		"/auth?x":                           {false, true},
		"/%u0074oken":                       {true, false},
		"/to\u212aen":                       {true, false},
		"/%" + strings.Repeat("25", 40):     {true, true},
		"/100%":                             {false, false},
		"/a%20b":                            {false, false},
		"/connect":                          {true, false},
		"/connect/../articles":              {true, false},
		"/connected":                        {false, false},
		"/sns/a/b":                          {true, false},
		"/register":                         {false, false},
		"/":                                 {false, false},
		"":                                  {false, false},
		"*":                                 {false, false},
		"/auth":                             {false, true},
		"/auth/":                            {false, true},
		"/Auth/anything":                    {false, true},
		"/x/../auth/y":                      {false, true},
		"/author":                           {false, false},
		"/.well-known/openid-configuration": {true, false},
		"/.well-known/oauth-authorization-server":      {true, false},
		"/.well-known/oauth-authorization-server/auth": {false, true},
		"/.well-known/oauth-protected-resource":        {false, false},
	} {
		if got := root.Has(path); got != want[0] {
			t.Errorf("issuer without a path: %q: %v", path, got)
		}
		if got := below.Has(path); got != want[1] {
			t.Errorf("issuer /auth: %q: %v", path, got)
		}
	}
	if !New("", true).Has("/register") || !New("", true).Has("/register/7") {
		t.Error("registration is left to the next handler")
	}
}

func BenchmarkHas(b *testing.B) {
	own := New("", true)
	b.ReportAllocs()
	for b.Loop() {
		own.Has("/articles/0190-abc")
	}
}
