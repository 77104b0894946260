package lint

import (
	"strings"
	"testing"
)

func TestUnconventionalNamesAreFound(t *testing.T) {
	for path, want := range map[string]string{
		"/article/{id}":             "'article' has items and is no plural, expected one such as articles",
		"/category/{id}":            "such as categories",
		"/address/{id}":             "such as addresses",
		"/box/{id}":                 "such as boxes",
		"/order-status/{id}":        "such as order-statuses",
		"/person/{id}":              "such as people",
		"/analysis/{id}":            "such as analyses",
		"/day/{id}":                 "such as days",
		"/getArticles":              "'getArticles' is a verb",
		"/articles/{id}/delete":     "'delete' is a verb",
		"/create-user":              "'create-user' is a verb",
		"/Articles":                 "expected lower case with hyphens: articles",
		"/blog_posts/{id}":          "expected lower case with hyphens: blog-posts",
		"/blogPosts":                "expected lower case with hyphens: blog-posts",
		"/api.php":                  "expected lower case with hyphens: api-php",
		"/a1s/{id}/b2s/{id}/c3s":    "nested 3 deep, expected at most 2",
		"/articles--old":            "expected lower case with hyphens: articles-old",
		"/schools/{id}/pupil/{sub}": "'pupil' has items",
	} {
		got := Check([]string{path})
		if len(got) != 1 || !strings.Contains(got[0].Message, want) || got[0].Path != path || !strings.Contains(got[0].Message, "expected") {
			t.Errorf("%s: %v, want %s", path, got, want)
		}
	}
}

func TestCommonNamesCauseNoFindings(t *testing.T) {
	paths := []string{"/profile", "/search", "/login", "/health", "/status", "/students/{id}/friends/{sub_id}", "/admin/users/{id}/roles/{sub_id}", "/import-jobs", "/export-jobs/{id}"}
	for word := range strings.FieldsSeq(`articles users people children news series media data metadata addresses statuses analyses indices
		orders order-items import-jobs add-ons update-requests search-results lists settings preferences sessions tokens categories companies
		buses boxes classes invoices payments refunds menus photos videos queries entries replies leaves keys days boys heroes taxes matrices
		staff equipment inventory feedback sheep fish oauth2 s3 v2 2fa-codes delete-requests fetch-jobs save-games downloads uploads imports exports
		events logs audits get-togethers-events criteria alumni curricula lenses canvases aliases biases viruses campuses`) {
		paths = append(paths, "/"+word+"/{id}")
	}
	if got := Check(paths); len(got) != 0 {
		t.Error(got)
	}
}

func TestSingularPathIsReportedOnce(t *testing.T) {
	got := Check([]string{"/article", "/article/{id}", "/article/{id}/tag", "/article/{id}/tag/{sub_id}"})
	if len(got) != 2 || got[0].Path != "/article" || got[1].Path != "/article/{id}/tag" {
		t.Error(got)
	}
}
