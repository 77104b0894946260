// Package pathpattern parses the paths of the REST interface: the patterns of client paths, such
// as /articles/{id:[0-9]+}, and the templates of upstream addresses that the values of their
// placeholders are filled into. It decides which values a placeholder accepts. It knows nothing of
// methods, resources or requests.
package pathpattern
