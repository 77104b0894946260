//go:build !race

// One goroutine validates large bodies, which takes a minute with -race:
// ./xcaddy.sh test runs tests of files like this without -race.

package validate

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
)

const (
	// Both kinds of node lead on by the same member.
	forked = `{"properties":{"where":{"$ref":"#/$defs/node"}},"$defs":{"node":{"oneOf":[
		{"type":"object","properties":{"kind":{"const":"and"},"of":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["kind","of"]},
		{"type":"object","properties":{"kind":{"const":"or"},"of":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["kind","of"]},
		{"type":"string"}]}}}`
	// Each leads on by its own.
	straight = `{"properties":{"where":{"$ref":"#/$defs/node"}},"$defs":{"node":{"anyOf":[
		{"type":"object","properties":{"and":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["and"]},
		{"type":"object","properties":{"or":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["or"]},
		{"type":"object","properties":{"not":{"$ref":"#/$defs/node"}},"additionalProperties":{"$ref":"#/$defs/node"},"required":["not"]},
		{"type":"string"}]}}}`
	tree     = `{"properties":{"where":{"$ref":"#/$defs/tree"}},"$defs":{"tree":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}`
	choices  = `{"properties":{"list":{"items":{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,"a","b","c","d","e"]}}}}`
	required = `{"properties":{"list":{"items":{"required":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q","r","s","t","u","v","w","x","y","z","A","B","C","D","E","F","G","H","I","J","K","L","M","N","O","P","Q","R","S","T","U","V","W","X","Y","Z"]}}}}`
	flat     = `{"properties":{"list":{"type":"array","prefixItems":[{"type":"integer"}],"items":{"type":"integer"}},"map":{"patternProperties":{"^a":{"type":"integer"}},"additionalProperties":false}}}`
)

// numbered repeats a text n times, with the numbers from 0 in place of %d, separated by commas.
func numbered(text string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(text, "%d", strconv.Itoa(i))
	}
	return strings.Join(all, ",")
}

func nested(open, inner, end string, levels int) string {
	return `{"where":` + strings.Repeat(open, levels) + inner + strings.Repeat(end, levels) + `}`
}

func TestBodyWithExcessiveEffortIsRefused(t *testing.T) {
	listOf := func(item string) string { return `{"properties":{"list":{"items":` + item + `}}}` }
	textOf := func(pattern string) string { return `{"properties":{"text":{"pattern":"` + pattern + `"}}}` }
	points := listOf(`{"enum":[` + numbered("[0,%d]", 100) + `]}`)
	dependent := listOf(`{"dependentRequired":{"a":[` + numbered(`"n%d"`, 100) + `]}}`)
	unevaluated := `{"properties":{"map":{"unevaluatedProperties":{"type":"integer"},"allOf":[` + numbered(`{"properties":{"b%d":{}}}`, 50) + `]}}}`
	kinds := `{"oneOf":[` + numbered(`{"properties":{"kind":{"const":%d}},"additionalProperties":false}`, 150) + `]}`
	cases := `{"allOf":[` + numbered(`{"if":{"properties":{"kind":{"const":%d}},"required":["kind"]},"then":{"required":["n%d"]}}`, 150) + `]}`
	long := strings.Repeat("a", 900_000)
	and := func(levels int, inner string) string { return nested(`{"kind":"and","of":[`, inner, `]}`, levels) }
	for name, c := range map[string]struct {
		schema, body string
		status       int
	}{
		"a tree":                        {forked, and(7, `"x"`), 0},
		"a tree with a fault":           {forked, and(7, `1`), 400},
		"a deep tree":                   {forked, and(40, `"x"`), 413},
		"a deep tree with a fault":      {forked, and(60, `1`), 413},
		"a tree and many leaves":        {forked, and(9, strings.Repeat(`"x",`, 2_000)+`"x"`), 413},
		"a deep tree of another kind":   {straight, nested(`{"and":[{"or":[`, `"x"`, `]}]}`, 25), 0},
		"one that is no tree":           {straight, nested(`{"not":`, `"x"`, `}`, 100), 0},
		"one by whatever members":       {straight, nested(`{"not":"y","else":`, `"x"`, `}`, 100), 0},
		"a long list":                   {flat, `{"list":[` + strings.Repeat("1,", 300_000) + `1]}`, 0},
		"a long list with a fault":      {flat, `{"list":[1,` + strings.Repeat("1,", 100_000) + `"x"]}`, 400},
		"a list of too many for anyone": {flat, `{"list":[` + strings.Repeat("1,", most) + `1]}`, 413},
		"many large numbers":            {flat, `{"list":[` + strings.Repeat("1e400,", 50_000) + `1]}`, 413},
		"many numbers with exponents":   {flat, `{"list":[` + strings.Repeat("1e9,", 50_000) + `1]}`, 0},
		"faults deep down":              {tree, nested("[", strings.Repeat("1,", 10_000)+"1", "]", 100), 400},
		"many faults deep down":         {tree, nested("[", strings.Repeat("1,", 200_000)+"1", "]", 100), 413},
		"numbers to choose from":        {choices, `{"list":[` + strings.Repeat("20,", 20_000) + `1]}`, 0},
		"many numbers to choose from":   {choices, `{"list":[` + strings.Repeat("20,", 200_000) + `1]}`, 413},
		"many texts to choose from":     {choices, `{"list":[` + strings.Repeat(`"e",`, 200_000) + `1]}`, 0},
		"many texts, of very many":      {`{"properties":{"list":{"items":{"enum":["a"` + strings.Repeat(`,"b"`, 10_000) + `,"e"]}}}}`, `{"list":[` + strings.Repeat(`"e",`, 100_000) + `"e"]}`, 413},
		"lacking members":               {required, `{"list":[` + strings.Repeat("{},", 20_000) + `{}]}`, 400},
		"many lacking members":          {required, `{"list":[` + strings.Repeat("{},", 200_000) + `{}]}`, 413},
		"points to choose from":         {points, `{"list":[` + strings.Repeat("[0,99],", 1_000) + `[0,1]]}`, 0},
		"many points to choose from":    {points, `{"list":[` + strings.Repeat("[0,99],", 100_000) + `[0,1]]}`, 413},
		"many points, each a const":     {listOf(`{"const":[0` + strings.Repeat(",0", 19) + `]}`), `{"list":[` + strings.Repeat("[0"+strings.Repeat(",0", 19)+"],", 24_000) + `0]}`, 413},
		"lacking dependent members":     {dependent, `{"list":[` + strings.Repeat(`{"a":1},`, 10_000) + `{}]}`, 400},
		"many lacking dependent ones":   {dependent, `{"list":[` + strings.Repeat(`{"a":1},`, 100_000) + `{}]}`, 413},
		"dependent members of nobody":   {dependent, `{"list":[` + strings.Repeat(`{"b":1},`, 100_000) + `{}]}`, 0},
		"many multiples":                {listOf(`{"multipleOf":0.01}`), `{"list":[` + strings.Repeat("12.99,", 160_000) + `1]}`, 0},
		"too many multiples":            {listOf(`{"multipleOf":2}`), `{"list":[` + strings.Repeat("1,", 400_000) + `1]}`, 413},
		"a long text":                   {textOf("^([a-z]+ ?)*$"), `{"text":"` + long + `"}`, 0},
		"many texts with a long form":   {listOf(`{"pattern":"^[a-z]([a-z-]{0,61}[a-z])?([.][a-z]([a-z-]{0,61}[a-z])?)*$"}`), `{"list":[` + strings.Repeat(`"www.example",`, 70_000) + `"a"]}`, 0},
		"a long text that begins often": {textOf("[a-z]{1,255}[0-9]"), `{"text":"` + long + `"}`, 413},
		"a long text of many forms":     {`{"properties":{"text":{"anyOf":[` + numbered(`{"pattern":"^[a-z]+%d$"}`, 50) + `]}}}`, `{"text":"` + long + `"}`, 413},
		"a long name that begins often": {`{"propertyNames":{"allOf":[{"pattern":"[a-z]{1,255}[0-9]"}]}}`, `{"` + long + `":1}`, 413},
		"a long name by such a pattern": {`{"patternProperties":{"[a-z]{1,255}[0-9]":true}}`, `{"` + long + `":1}`, 413},
		"members left":                  {unevaluated, `{"map":{` + numbered(`"a%d":1`, 5_000) + `}}`, 0},
		"many members left":             {unevaluated, `{"map":{` + numbered(`"a%d":1`, 60_000) + `}}`, 413},
		"many elements left":            {`{"properties":{"list":{"unevaluatedItems":false,"allOf":[` + numbered(`{"minItems":%d}`, 20) + `]}}}`, `{"list":[` + strings.Repeat("1,", 200_000) + `1]}`, 413},
		"an object of many kinds":       {kinds, `{` + numbered(`"a%d":1`, 5_000) + `}`, 400},
		"one too large for them":        {kinds, `{` + numbered(`"a%d":1`, 80_000) + `}`, 413},
		"an object, many conditions":    {cases, `{` + numbered(`"a%d":1`, 5_000) + `}`, 0},
		"too large for so many":         {cases, `{` + numbered(`"a%d":1`, 80_000) + `}`, 413},
		"a large map":                   {`{"additionalProperties":{"type":"integer"}}`, `{` + numbered(`"a%d":1`, 80_000) + `}`, 0},
		"members by a pattern":          {flat, `{"map":{"ab":1,"ac":2}}`, 0},
		"members that there are not":    {flat, `{"map":{"ab":1,"b":2}}`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			s := written(t, c.schema)
			o, refused := Parse([]byte(c.body))
			if refused != nil {
				t.Fatal(refused)
			}
			for _, partial := range []bool{false, true} {
				begun, status := time.Now(), 0
				if refused := s.Check(turns.Caller{}, nil, o, partial); refused != nil {
					status = refused.Status
				}
				if took := time.Since(begun); status != c.status || took > 20*time.Second {
					t.Errorf("%d after %v, want %d", status, took, c.status)
				}
			}
		})
	}
}

// The bound is what the validator really does: no less, or it would protect from nothing.
func TestEffortMatchesTheWorkDone(t *testing.T) {
	s := written(t, forked).schema
	for levels := range 10 {
		body := map[string]any{"where": any("x")}
		for range levels {
			body["where"] = map[string]any{"kind": "and", "of": []any{body["where"]}}
		}
		left := float64(most)
		s.effort.spend(body, s.effort.beside[s.whole], 0, &left)
		if spent := most - left; spent < float64(int(4)<<levels) || spent > float64(int(40)<<levels) {
			t.Errorf("%d levels: %v", levels, spent)
		}
	}
}
