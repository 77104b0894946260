package lint

import (
	"slices"
	"strings"
)

// verbs are words that are never nouns. Words that may be nouns, such as search, import, order
// or list, are missing on purpose: false alarms make people turn the check off.
var verbs = []string{"get", "create", "delete", "update", "fetch", "insert", "modify", "remove", "edit", "add", "save", "retrieve", "destroy", "find", "do", "perform"}

// things are nouns that a verb may precede: import-jobs, update-requests.
var things = []string{
	"job", "jobs", "request", "requests", "event", "events", "log", "logs", "task", "tasks", "channel", "channels", "policy", "policies",
	"permission", "permissions", "operation", "operations", "history", "on", "ons", "game", "games", "mark", "marks", "notice", "notices",
}

func isVerb(words []string) bool {
	return slices.Contains(verbs, words[0]) && (len(words) == 1 || !slices.Contains(things, words[len(words)-1]))
}

// plurals do not end in s, or have no singular.
var plurals = []string{
	"people", "children", "men", "women", "feet", "teeth", "geese", "mice", "oxen", "criteria", "phenomena", "indices", "matrices", "vertices",
	"alumni", "cacti", "fungi", "nuclei", "stimuli", "media", "data", "metadata", "news", "series", "species", "sheep", "fish", "deer", "aircraft",
	"feedback", "staff", "equipment", "software", "hardware", "firmware", "information", "content", "inventory", "stock", "mail", "traffic", "money",
	"music", "knowledge", "audio", "police", "cattle", "schemata", "formulae", "genera", "corpora", "curricula", "memoranda", "bacteria", "strata",
	"personnel", "luggage", "furniture", "advice", "weather", "research", "evidence", "history", "api", "payroll", "merchandise",
}

// singulars end in s.
var singulars = []string{
	"status", "bus", "campus", "bonus", "virus", "census", "corpus", "focus", "radius", "genus", "syllabus", "apparatus", "consensus", "stimulus",
	"surplus", "analysis", "basis", "crisis", "thesis", "axis", "diagnosis", "hypothesis", "synopsis", "emphasis", "gas", "lens", "canvas", "atlas", "alias",
	"bias", "iris", "tennis", "chaos", "cosmos", "nexus", "prospectus", "octopus", "locus", "modus", "opus",
}

func isPlural(word string) bool {
	switch {
	case slices.Contains(plurals, word):
		return true
	case !strings.HasSuffix(word, "s") || strings.HasSuffix(word, "ss"):
		// Digits at the end are not part of a word and do not tell its number.
		return word[len(word)-1] >= '0' && word[len(word)-1] <= '9'
	}
	return !slices.Contains(singulars, word)
}

// irregular are common words whose plural must not be suggested wrongly.
var irregular = map[string]string{
	"person": "people", "child": "children", "man": "men", "woman": "women", "foot": "feet", "tooth": "teeth", "mouse": "mice", "goose": "geese",
	"index": "indexes", "analysis": "analyses", "basis": "bases", "crisis": "crises", "thesis": "theses", "axis": "axes", "diagnosis": "diagnoses",
	"hypothesis": "hypotheses", "synopsis": "synopses", "criterion": "criteria", "medium": "media", "leaf": "leaves", "knife": "knives", "life": "lives",
}

func plural(word string) string {
	if p, ok := irregular[word]; ok {
		return p
	}
	for _, end := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(word, end) {
			return word + "es"
		}
	}
	if stem, ok := strings.CutSuffix(word, "y"); ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return word + "s"
}
