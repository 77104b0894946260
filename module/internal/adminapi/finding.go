package adminapi

import (
	"fmt"
	"time"
)

// The grades of a finding.
const (
	GradeOK   = "ok"
	GradeWarn = "warn" // works, and should be changed
	GradeFail = "fail" // does not work, or is dangerous
)

// Finding is the result of one check of the doctor.
type Finding struct {
	Check   string `json:"check"`
	Grade   string `json:"grade"`
	Where   string `json:"where,omitempty"` // the line of the configuration, such as `Caddyfile:12`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// Findings collects the results of checks.
type Findings []Finding

// OK adds a finding of [GradeOK].
func (f *Findings) OK(check, format string, args ...any) {
	*f = append(*f, Finding{Check: check, Grade: GradeOK, Message: fmt.Sprintf(format, args...)})
}

// Warn adds a finding of [GradeWarn].
func (f *Findings) Warn(check, remedy, format string, args ...any) {
	*f = append(*f, Finding{Check: check, Grade: GradeWarn, Message: fmt.Sprintf(format, args...), Remedy: remedy})
}

// Fail adds a finding of [GradeFail].
func (f *Findings) Fail(check, remedy, format string, args ...any) {
	*f = append(*f, Finding{Check: check, Grade: GradeFail, Message: fmt.Sprintf(format, args...), Remedy: remedy})
}

// Count returns a number with its noun: "1 guard", "2 guards".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Examination is what the running gateway reports to the doctor.
type Examination struct {
	Issuer   string   `json:"issuer"`
	VariantB bool     `json:"variant_b"` // whether a client of the configuration or the store speaks it
	Findings Findings `json:"findings"`
}

// Day formats a time for people; "" for none.
func Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}
