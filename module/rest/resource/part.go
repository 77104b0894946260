package resource

import "github.com/gatehouse/gatehouse/module/internal/rest/splice"

// Part is the answer to a request that belongs to no operation: what the plan leaves of it.
func Part(plan *splice.Plan) *Answer { return &Answer{Plan: plan, createdAt: -1} }
