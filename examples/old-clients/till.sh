#!/bin/sh
# The old program: it keeps a user's password, and sends it for a token (RFC 6749 section 4.3).
TOKEN=$(curl -s -u "till:$TILL_SECRET" http://localhost:8080/token -d grant_type=password \
	-d username=alice --data-urlencode 'password=correct horse battery staple' -d scope=stock:read |
	sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p')
[ -n "$TOKEN" ] || { echo 'no token' && exit; }
curl -s -H "Authorization: Bearer $TOKEN" http://localhost:8081/stock
