package fieldnames_test

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

func TestBodiesGetUpstreamNamesAndValues(t *testing.T) {
	n, err := fieldnames.New(&resource.Resource{
		Rename: map[string]string{"title": "subject"},
		Values: map[string]map[string]string{"state": {"open": "1", "closed": "done"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"title":"a"}`:                    `subject="a"`,
		`{"state":"open"}`:                 `state=1`,
		`{"state":"closed"}`:               `state="done"`,
		`{"state":null}`:                   `state=null`,
		`{"other":[1]}`:                    `other=[1]`,
		`{"state":"new"}`:                  `state must be one of: closed, open`,
		`{"state":1}`:                      `state must be one of: closed, open`,
		`{"subject":"a"}`:                  `subject is not a field of this resource`,
		`{"Title":"a"}`:                    `Title is not a field of this resource`,
		`{"su.bject":"a"}`:                 `su.bject="a"`,
		`{"state\u0000":"x"}`:              "state\x00 is not a field of this resource",
		`{" State":"open"}`:                ` State is not a field of this resource`,
		`{"state(1i)":"open"}`:             `state(1i) is not a field of this resource`, // Rails
		`{"Subject()":"a"}`:                `Subject() is not a field of this resource`,
		`{"states(1i)":"open"}`:            `states(1i)="open"`,
		`{"(state)":"open"}`:               `(state) is not a field of this resource`,
		`{"(subject)":"a"}`:                `(subject)="a"`,
		`{"X-HTTP-Method-Override":"PUT"}`: `X-HTTP-Method-Override must not be there: the method of a request cannot be overridden`,
		`{"x-method-override":"PUT"}`:      `x-method-override must not be there: the method of a request cannot be overridden`,
		`{"_method":"PUT"}`:                `_method must not be there: the method of a request cannot be overridden`,
	} {
		object, refused := validate.Parse([]byte(body))
		if refused != nil {
			t.Fatal(body, refused)
		}
		got, refused := n.ToUpstream(object)
		text := ""
		if refused != nil {
			text = refused.Field + " " + strings.TrimPrefix(refused.Message, refused.Field+" ")
		} else {
			text = got[0].Name + "=" + string(got[0].Value)
		}
		if text != want {
			t.Errorf("%s: %s, want %s", body, text, want)
		}
	}
	if n.Ours("subject") != "title" || n.Ours("x") != "x" || !n.Renamed("subject") || !n.ChangeBodies() || !n.ChangeAnswers() {
		t.Error("names are not found")
	}
}

// Go and .NET ignore the case of a name, and to json-c it ends at a NUL: such a member would bypass its rule.
func TestNamesInsideMembersHaveOneSpelling(t *testing.T) {
	n, err := fieldnames.New(&resource.Resource{Validate: []validate.Rule{
		{Field: "/author/role", Enum: []string{"user"}}, {Field: "/author/Name", Readonly: true}, {Field: "/author/name", Required: true}, {Field: "/a/b/c", Integer: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"author":{"name":"x","role":"user","Name":"y"}}`:              "",
		`{"author":{"name":"x","Role":"admin"}}`:                        "/author/Role",
		`{"author":{"name":"x","role":"user","role\u0000":"admin"}}`:    "/author/role\x00",
		`{"author":{"__proto__":{"role":"admin"}}}`:                     "/author/__proto__", // JavaScript's Object.assign
		`{"__proto__":{"other":"x"}}`:                                   "__proto__",
		`{"other":{"__proto__":{"role":"x"}}}`:                          "",
		`{"author":{"role(1i)":"admin"}}`:                               "/author/role(1i)", // Rails
		`{"author(1)":{"role":"admin"}}`:                                "author(1)",
		`{"author":{"NAME":"y"}}`:                                       "/author/NAME",
		`{"author":{"roles":["admin"],"C":1}}`:                          "",
		`{"a":{"B":{"c":"x"}}}`:                                         "/a/B",
		`{"a":{"b":{"c":1,"C":"x"}}}`:                                   "/a/b/C",
		`{"a":{"x":{"C":"x"}},"author":null,"other":{"Author":[1]}}`:    "",
		`{"author":[{"Role":1}],"Role":{"Role":"x"},"a":{"b":"C:\\C"}}`: "",
	} {
		if got := refusedField(t, n, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// In XML, Java's Jackson reads an attribute and an element of one name as the same member, and Rails a hyphen as an underscore.
func TestOtherSpellingsInXML(t *testing.T) {
	rules := []validate.Rule{{Field: "role", Readonly: true}, {Field: "@lang", Enum: []string{"en"}}, {Field: "id"}, {Field: "@id"}, {Field: "/author/role", Enum: []string{"user"}}, {Field: "status_id", Readonly: true}, {Field: "/author/is-x", Integer: true}, {Field: "kind"}, {Field: "/author/is-y"}}
	for _, as := range []string{"xml", "json"} {
		n, err := fieldnames.New(&resource.Resource{Validate: rules, Routes: []resource.Route{{Method: "POST", As: as}}})
		if err != nil {
			t.Fatal(err)
		}
		for body, want := range map[string]string{
			`{"@role":"x"}`: "@role", `{"lang":"x"}`: "lang", `{"author":{"@Role":"x"}}`: "/author/@Role",
			`{"status-id":"x"}`: "status-id", `{"@Status-ID":"x"}`: "@Status-ID", `{"author":{"is_x":"x"}}`: "/author/is_x",
			`{"@kind":"x"}`: "@kind", `{"author":{"is_y":"x"}}`: "/author/is_y",
			`{"id":1,"@id":1,"@lang":"en","@x":1,"author":{"role":"user","is-x":1},"other-id":1}`: "",
		} {
			if as == "json" && (want == "@kind" || want == "/author/is_y") {
				want = "" // JSON-LD has both, and these have no constraints
			}
			if got := refusedField(t, n, body); got != want {
				t.Errorf("%s %s: %q, want %q", as, body, got, want)
			}
		}
	}
}

// Mongoose and Icinga take dots for steps into an object.
func TestMembersWithConstraintsHaveNoPartsBehindDots(t *testing.T) {
	n, err := fieldnames.New(&resource.Resource{
		Rename: map[string]string{"state": "status", "name": "title"}, Values: map[string]map[string]string{"state": {"open": "1"}}, Batch: []string{"size.x"},
		Validate: []validate.Rule{
			{Field: "/meta/role", Readonly: true}, {Field: "tags", Readonly: true}, {Field: "text", Required: true}, {Field: "/home/city", Required: true}, {Field: "/a/b/c", Integer: true},
			{Field: "vars.role", Readonly: true}, {Field: "/x/y.z", Readonly: true}, {Field: "both.of", Enum: []string{"a"}}, {Field: "/both/of", Enum: []string{"a"}},
			{Field: "host", Length: &[2]int{1, 9}}, {Field: "host.name"}, {Field: "size", Max: "9"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"meta.role":"x"}`: "meta.role", `{"meta.other":1}`: "meta.other", `{"Meta.role":1}`: "Meta.role", `{"tags.0":"a"}`: "tags.0", `{"tags.$":"a"}`: "tags.$",
		`{"a.b.c":"x"}`: "a.b.c", `{"a":{"b.c":"x"}}`: "/a/b.c", `{"a.b":{"c":"x"}}`: "a.b", `{"status.x":1}`: "status.x", `{"state.x":1}`: "state.x", `{"size.y":1}`: "size.y",
		`{"items.tags":1}`: "items.tags", `{"db.items.tags":1}`: "db.items.tags", `{"set__tags":1}`: "set__tags", `{"meta__role":1}`: "meta__role", `{"meta->role":1}`: "meta->role",
		`{"meta:role":1}`: "meta:role", `{"tags:list":1}`: "tags:list", `{"dc:tags":1,"q->tags":1}`: "", `{"vars":[{"role":"x"}]}`: "vars", `{"tags ":1}`: "tags ", "{\"\\ttags\":1}": "\ttags", "{\"\ufefftags\u00a0\":1}": "\ufefftags\u00a0", `{"a":{" b ":1}}`: "/a/ b ",
		`{"vars":{"role":"x"}}`: "/vars/role", `{"x":{"y":{"z":1}}}`: "/x/y/z", `{"x.y":{"z":1}}`: "x.y", `{"vars.role.x":1}`: "vars.role.x",
		`{"text.q":1,"home.city":1,"title.q":1,"host.name":"a","size.x":1,"other.role":1,"metas.role":1,"vars":{"other":1},"vars.other":1,"both":{"of":"a"},"x":{"y":{}},"m":{"meta.role":1},".":1}`: "",
		`{"` + strings.Repeat("a.", 1<<20) + `":1}`: "a." + strings.Repeat("a.", 1<<20-1),
		`{"` + strings.Repeat("b.", 1<<20) + `":1}`: "",
	} {
		if got := refusedField(t, n, body); got != want {
			t.Errorf("%.90s: %.40q, want %.40q", body, got, want)
		}
	}
}

// protobuf reads both names of a field in JSON, as grpc-gateway has it.
func TestNamesThatProtobufReadsAlikeAreOne(t *testing.T) {
	n, err := fieldnames.New(&resource.Resource{
		Rename:   map[string]string{"heading": "pageTitle"},
		Validate: []validate.Rule{{Field: "is_admin", Readonly: true}, {Field: "ownerId", Integer: true}, {Field: "/author/userRole", Enum: []string{"user"}}, {Field: "_id"}, {Field: "both_of"}, {Field: "bothOf"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"isAdmin":true}`: "isAdmin", `{"owner_id":"x"}`: "owner_id", `{"page_title":"x"}`: "page_title", `{"author":{"user_role":"admin"}}`: "/author/user_role",
		`{"heading":1,"ownerId":1,"_id":1,"both_of":1,"bothOf":1,"author":{"userRole":"user"},"id":1,"Id":1,"headings":1,"page__title":1,"owner":{"id":1}}`: "",
	} {
		if got := refusedField(t, n, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// Symfony, Laravel, Objection, Rails with underscore, lodash and humps each put underscores elsewhere, and some ignore the case besides.
func TestMembersWithConstraintsHaveOneSpellingOfTheirLetters(t *testing.T) {
	n, err := fieldnames.New(&resource.Resource{
		Rename: map[string]string{"kind": "type_name"}, Values: map[string]map[string]string{"kind": {"a": "1"}},
		Validate: []validate.Rule{
			{Field: "role", Readonly: true}, {Field: "isOwner", Readonly: true}, {Field: "is_adult", Integer: true}, {Field: "/meta/role", Readonly: true}, {Field: "text"},
			{Field: "user_id", Integer: true}, {Field: "userId", Integer: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"ro_le":1}`: "ro_le", `{"_role":1}`: "_role", `{"role_":1}`: "role_", `{"r ole":1}`: "r ole", `{"ro-le":1}`: "ro-le", `{"setRoLe":1}`: "", `{"@role":1}`: "@role",
		`{"Is_owner":1}`: "Is_owner", `{"is__owner":1}`: "is__owner", `{"isowner":1}`: "isowner", `{"IsAdult":1}`: "IsAdult", `{"is-adult":1}`: "is-adult", `{"i_s_adult":1}`: "i_s_adult",
		`{"meta":{"ro_le":1}}`: "/meta/ro_le", `{"me_ta":{"role":1}}`: "me_ta", `{"meta":{"_role":1}}`: "/meta/_role", `{"users.ro_le":1}`: "users.ro_le", `{"me_ta->role":1}`: "me_ta->role",
		`{"typeName":"1"}`: "typeName", `{"typename":"1"}`: "typename", `{"Kind_":"a"}`: "Kind_",
		`{"te_xt":1,"roles":1,"my_role":1,"user_id":1,"userId":1,"text":1,"kind":"a","meta":{"roles":1}}`: "",
	} {
		if got := refusedField(t, n, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// refusedField returns the field for which a body is refused, "" for none.
func refusedField(t *testing.T, n *fieldnames.Names, body string) string {
	t.Helper()
	object, refused := validate.Parse([]byte(body))
	if refused != nil {
		t.Fatal(body, refused)
	}
	if _, refused = n.ToUpstream(object); refused != nil {
		return refused.Field
	}
	return ""
}

func TestContradictoryDeclarationsAreRefused(t *testing.T) {
	for want, r := range map[string]resource.Resource{
		"a has the name": {Rename: map[string]string{"x": "a", "y": "a"}},
		"both stand for": {Values: map[string]map[string]string{"s": {"a": "1", "b": "1"}}},
		"given twice":    {Drop: []string{"a", "a"}},
		"names it too":   {Drop: []string{"a"}, Rename: map[string]string{"x": "a"}},
		"both sides":     {Rename: map[string]string{"x": ""}},
		"such as _links": {Drop: []string{""}},
	} {
		if _, err := fieldnames.New(&r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestClientsNameIsTranslatedUnlessItIsTheUpstreams(t *testing.T) {
	n, err := fieldnames.New(&resource.Resource{Rename: map[string]string{"title": "subject"}, Lift: map[string]string{"text": "/body/raw"}})
	if err != nil {
		t.Fatal(err)
	}
	for ours, want := range map[string]string{"title": "subject", "id": "id", "subject": "", "text": ""} {
		if theirs, ok := n.Theirs(ours); ok != (want != "") || ok && theirs != want {
			t.Errorf("%s: %s %t, want %q", ours, theirs, ok, want)
		}
	}
}
