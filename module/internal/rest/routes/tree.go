package routes

import (
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
)

// node is a place in the tree of declared paths.
type node struct {
	words      map[string]*node
	param      *node
	operations map[string]*Operation // by method
	allow      string                // the Allow header
}

// place returns the place of a pattern, and makes it where it does not exist.
func (n *node) place(p pathpattern.Pattern) *node {
	for _, s := range p.Segments {
		next := n.param
		if !s.Param {
			next = n.words[s.Text]
		}
		if next == nil {
			next = &node{words: make(map[string]*node), operations: make(map[string]*Operation)}
			if s.Param {
				n.param = next
			} else {
				n.words[s.Text] = next
			}
		}
		n = next
	}
	return n
}

// find finds the place of a path. It prefers words to placeholders, from left to right. Depth and work are
// bounded: a step back leads from a word to the placeholder beside it, and [pathpattern.Split] bounds the
// segments; declared paths have three or four.
func (n *node) find(segments []string) *node {
	if len(segments) == 0 {
		if len(n.operations) == 0 {
			return nil
		}
		return n
	}
	if next := n.words[segments[0]]; next != nil {
		if found := next.find(segments[1:]); found != nil {
			return found
		}
	}
	if n.param != nil {
		return n.param.find(segments[1:])
	}
	return nil
}

// put adds an operation to a place.
func (n *node) put(o *Operation) {
	n.operations[o.Method] = o
	methods := []string{"OPTIONS"}
	for m := range n.operations {
		methods = append(methods, m)
		if m == "GET" {
			methods = append(methods, "HEAD")
		}
	}
	slices.Sort(methods)
	n.allow = strings.Join(methods, ", ")
}
