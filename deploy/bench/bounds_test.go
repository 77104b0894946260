package main

import (
	"math"
	"testing"

	"github.com/gatehouse/gatehouse/deploy/bench/internal/ratio"
)

// measuredGroup has one row, which took so many times the base.
func measuredGroup(base, subject *row, times float64) *group {
	return &group{base: base, rows: []*row{subject}, rotation: []rotation{
		{schedule: []int{ratio.Base, 0, ratio.Base}, values: []float64{100, 100 * times, 100}},
		{schedule: []int{ratio.Base, 0, ratio.Base}, values: []float64{200, 200 * times, 200}},
	}}
}

func TestABoundIsMetOrMissed(t *testing.T) {
	bare := &row{name: "bare", gateway: &gateway{name: "bare"}, slices: []slice{{resident: 60 << 20}}}
	b := new(bench)
	for times, met := range map[float64]bool{0.5: true, 0.6: true, 0.61: false} {
		all, err := b.bounds([]*group{measuredGroup(bare, &row{name: "api_proxy", bound: 0.6, aim: 0.5}, times)})
		if err != nil || len(all) != 1 || all[0].Met != met || math.Abs(all[0].Measured-times) > 1e-9 {
			t.Errorf("%v: %v, %v", times, all, err)
		}
	}
	for mib, met := range map[int64]bool{100: true, 316: true, 317: false} {
		all, err := b.bounds([]*group{measuredGroup(bare, &row{name: manyTokens, slices: []slice{{resident: mib << 20}}}, 1)})
		if err != nil || len(all) != 1 || all[0].Met != met || all[0].Unit != "MiB" || all[0].Measured != float64(mib-60) {
			t.Errorf("%d MiB: %v, %v", mib, all, err)
		}
	}
}

func TestAColdTokenCostsWhatItTakesBeyondAVerification(t *testing.T) {
	s, err := newSigner()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{signer: s}
	one, err := s.verify()
	if err != nil || one <= 0 {
		t.Fatal(one, err)
	}
	// A second is so much longer than a verification that the machine's speed does not matter.
	got, err := b.coldCost([]ratio.Pair{{Subject: 1e6 + 100, Base: 100}})
	if err != nil || got >= 1e6 || got < 1e6/2 {
		t.Errorf("%v us: %v", got, err)
	}
}
