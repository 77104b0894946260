package guard

// CheckRule reports what is wrong with a rule by itself.
func CheckRule(r Rule) error {
	_, err := compileRules([]Rule{r}, challenges{}, func(string) bool { return true })
	return err
}
