package module

import (
	_ "github.com/gatehouse/gatehouse/caddyfile"
	_ "github.com/gatehouse/gatehouse/module/gateway"
	_ "github.com/gatehouse/gatehouse/module/gateway/apilimit"
	_ "github.com/gatehouse/gatehouse/module/gateway/oauthguard"
	_ "github.com/gatehouse/gatehouse/module/gateway/restapi"
	_ "github.com/gatehouse/gatehouse/module/internal/cli"
	_ "github.com/gatehouse/gatehouse/plugins/directory/file"
	_ "github.com/gatehouse/gatehouse/plugins/directory/http"
	_ "github.com/gatehouse/gatehouse/plugins/directory/ldap"
	_ "github.com/gatehouse/gatehouse/plugins/directory/sql"
	_ "github.com/gatehouse/gatehouse/plugins/limiter/redis"
	_ "github.com/gatehouse/gatehouse/plugins/store/bolt"
	_ "github.com/gatehouse/gatehouse/plugins/store/redis"
)
