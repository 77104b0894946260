package leak

import "testing"

func TestEscapedTextIsReadAsItIsMeant(t *testing.T) {
	for _, text := range []string{`\u0053QLSTATE`, `oops\n    at main`, `oops\\n    at main`, `oops\t\r\nat main`} {
		if !In(text) {
			t.Errorf("%s passes", text)
		}
	}
}

func TestOrdinaryTextsAreNotTakenForStackTraces(t *testing.T) {
	for _, text := range []string{
		"The title must have 5 to 100 characters.", "The meeting is at 10:30.", "Row 7, line 12: a comma is missing.",
		"See https://docs.example.com/errors#e12.", "File \"report.csv\" is too large.", "Version 2.10.3 is needed.", "文章标题太短",
		"A user with this email does not exist.", `The column "title" must not be empty.`, "This table does not exist.", "Duplicate entry for user ann.", "The key must be unique.",
		"There is none (ResourceNotFound)", "FileNotFound", "Invalid value for key 'limit'.", "Unknown column 'prise' in row 1.", "Constraint failed: it must end after it starts.",
		`The role "editor" does not exist.`, "No such thumbnail: jpg::small", "Local time is missing.", "See internal note 5432.", "Ratio 16:9 or 4:3 only.",
		"No route for /articles/7.", "at least one item is needed (none given)",
		"Access denied for user 'ann'.", "You have no permission for table 5.", "Permission denied for this table.", "The connection timed out.", `near "Berlin"`,
		"There is no file of this name.", "See /help/opt/in", "Fish &amp; chips, 1\\2", "The row has no column for it.", "The file has no column named price.", "The object has no attribute of this name.", "The <class> element needs a name.", "The table in your file has no column named price.", `1\\new`, "report.csv: no such file or directory",
	} {
		if In(text) {
			t.Errorf("%q is withheld", text)
		}
	}
}
