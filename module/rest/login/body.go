package login

import (
	"fmt"

	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// Fill returns the parameters of the step's body with their placeholders filled in. In a step as json, the values are
// JSON.
func (s Step) Fill(fill compose.Fill) (params []supply.Param, err error) {
	for _, v := range s.Send {
		checked := func(text string) (string, error) {
			value, err := fill(text)
			if err == nil {
				err = supply.CheckValue(supply.Param{In: supply.Body, Name: v.Name, Value: value})
			}
			return value, err
		}
		p := supply.Param{In: supply.Body, Name: v.Name}
		if s.As == "json" {
			p.Value, err = compose.Literal(v.Value, checked)
		} else {
			p.Value, err = checked(v.Value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		params = append(params, p)
	}
	return params, nil
}

// body returns the body of a step as json.
func (s Step) body(fill compose.Fill) ([]byte, error) {
	params, err := s.Fill(fill)
	if err != nil {
		return nil, err
	}
	members := make([]compose.Member, len(params))
	for i, p := range params {
		members[i] = compose.Member{Name: p.Name, Value: p.Value}
	}
	return compose.Object(members)
}
