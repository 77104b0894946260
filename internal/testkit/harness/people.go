package harness

// Password is the password of users in tests. PasswordHash is a cheap hash of it, because tests sign in very often.
const (
	Password     = "correct horse battery staple"
	PasswordHash = "$argon2id$v=19$m=4096,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$mDBI7I83kOTBcQZVXUAHCRm9ZyNmqrIccUZP456pguY"
)
