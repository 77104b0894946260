package splice

// decideMember decides what happens to the member whose name is held and ends right before i. A nil name is longer
// than any that matters.
func (e *Editor) decideMember(name []byte, i int) error {
	f := e.at.top()
	var m *member
	if name != nil {
		if f.doc != nil {
			e.at.next.doc = e.captured.forget(f.doc.steps.get(name))
			if n := e.at.next.doc; n != nil && n.leadsToRoot && (e.at.rootFound || e.at.rootWrong) {
				return errTwice
			}
		}
		if f.id != nil {
			e.at.next.id = e.captured.forget(f.id.steps.get(name))
		}
		if f.resource {
			m = e.plan.members.get(name)
		}
	}
	edited := f.resource
	if e.plan.places {
		edited, m = e.decideInside(f, m)
	}
	switch {
	case m != nil && m.drop:
		if len(e.held.earlier) == 0 {
			e.out.pass(e.held.from)
		}
		e.out.muted, e.at.next.after = true, unmute
		e.release(nil, i)
	case edited:
		if !f.any {
			e.dropComma()
			f.any = true
		}
		var instead []byte
		if m != nil {
			instead = m.name
			if !m.values.empty() {
				e.at.next.values = &m.values
			}
		}
		e.release(instead, i)
	default:
		e.release(nil, i)
	}
	return nil
}

var droppedMember = &member{drop: true}

// decideInside returns whether members of the present object are edited, and the edit of this one, which may be
// inside other members of the resource object.
func (e *Editor) decideInside(f *frame, m *member) (bool, *member) {
	f.hidden = m != nil && m.drop
	if f.id == nil || !f.id.drops {
		return f.resource, m
	}
	if m == nil && !e.out.muted && e.at.next.id != nil && e.at.next.id.dropped {
		m = droppedMember
	}
	return true, m
}
