package restapi
