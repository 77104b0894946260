package password

import (
	"fmt"
	"strings"
	"testing"
)

func TestCommonCostFollowsMostUsers(t *testing.T) {
	bcrypt := parsed(t, "$2y$10$"+strings.Repeat("s", 53)).Cost()
	c := NewCommonCost(nil)
	if c.Dummy().Cost() != usual {
		t.Errorf("at first %+v", c.Dummy().Cost())
	}
	for i := range 3 {
		c.Record(fmt.Sprint(i), bcrypt)
	}
	for range 100 {
		c.Record("attacker", usual)
	}
	if c.Dummy().Cost() != bcrypt {
		t.Errorf("one user made the common cost %+v", c.Dummy().Cost())
	}
	for i := range 5 {
		c.Record(fmt.Sprint("quick", i), parsed(t, "{SSHA}LhKrkM9Fy+zlstjdD7Kv2s6QvhBzYWx0").Cost())
	}
	if c.Dummy().Cost() != bcrypt {
		t.Errorf("quick hashes made the common cost %+v", c.Dummy().Cost())
	}
	for i := range 3 * remembered {
		c.Record(fmt.Sprint("new", i), usual)
	}
	if c.Dummy().Cost() != usual || len(c.users) != remembered || len(c.order) != remembered {
		t.Errorf("%+v, %d users remembered", c.Dummy().Cost(), len(c.users))
	}
	fixed := parsed(t, "$2y$12$"+strings.Repeat("s", 53))
	c = NewCommonCost(fixed)
	c.Record("1", bcrypt)
	if c.Dummy().Cost() != fixed.Cost() {
		t.Errorf("a fixed cost became %+v", c.Dummy().Cost())
	}
}
