package api

import (
	"fmt"
	"sync"
)

const students = 48

type student struct {
	ID    int    `json:"sid"`
	Name  string `json:"name"`
	Class string `json:"class"`
}

type school struct {
	byID map[int]student

	mu      sync.RWMutex
	friends map[[2]int]bool // both ways; it only shrinks
}

func newSchool() *school {
	first := []string{"Ada", "Bruno", "Chen", "Dora", "Emil", "Fatou", "Goran", "Hana"}
	last := []string{"Abel", "Berg", "Costa", "Dahl", "Evans", "Fuchs"}
	s := &school{byID: map[int]student{}, friends: map[[2]int]bool{}}
	for i := 1; i <= students; i++ {
		s.byID[i] = student{ID: i, Name: first[i%len(first)] + " " + last[i/len(first)%len(last)], Class: fmt.Sprintf("%dB", i%6+5)}
		for j := 1; j < i; j++ {
			if (i*j+i+j)%7 == 0 {
				s.friends[[2]int{i, j}], s.friends[[2]int{j, i}] = true, true
			}
		}
	}
	return s
}

func (s *school) all() []student {
	list := make([]student, 0, students)
	for i := 1; i <= students; i++ {
		list = append(list, s.byID[i])
	}
	return list
}

func (s *school) friendsOf(id int) []student {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []student
	for i := 1; i <= students; i++ {
		if s.friends[[2]int{id, i}] {
			list = append(list, s.byID[i])
		}
	}
	return list
}

func (s *school) unfriend(id, friend int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	were := s.friends[[2]int{id, friend}]
	delete(s.friends, [2]int{id, friend})
	delete(s.friends, [2]int{friend, id})
	return were
}
