package oauth

import (
	"fmt"
	"time"
)

// ParseEnd reads the day from whose first moment in UTC a deprecated grant is refused.
func ParseEnd(day string) (time.Time, error) {
	end, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, fmt.Errorf("the end %q must be a day written as YYYY-MM-DD", day)
	}
	return end, nil
}
