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

func TestBenchmarkBoundsAreMetOrMissed(t *testing.T) {
	bare := &row{name: "bare", gateway: &gateway{name: "bare"}, slices: []slice{{resident: 60 << 20}}}
	for times, met := range map[float64]bool{0.5: true, 0.6: true, 0.61: false} {
		all := bounds([]*group{measuredGroup(bare, &row{name: "api_proxy", bound: 0.6, aim: 0.5}, times)})
		if len(all) != 1 || all[0].Met != met || math.Abs(all[0].Measured-times) > 1e-9 {
			t.Errorf("%v: %v", times, all)
		}
	}
	for mib, met := range map[int64]bool{100: true, 316: true, 317: false} {
		all := bounds([]*group{measuredGroup(bare, &row{name: manyTokens, slices: []slice{{resident: mib << 20}}}, 1)})
		if len(all) != 1 || all[0].Met != met || all[0].Unit != "MiB" || all[0].Measured != float64(mib-60) {
			t.Errorf("%d MiB: %v", mib, all)
		}
	}
}

func TestColdTokenCostExcludesVerification(t *testing.T) {
	pairs := []ratio.Pair{{Subject: 200, Base: 100}, {Subject: 260, Base: 140}, {Subject: 1000, Base: 100}}
	got := coldCost(pairs, []slice{{beside: 90}, {beside: 100}, {beside: 80}})
	if got != 20 {
		t.Errorf("%v us, expected the median of 10, 20 and 820", got)
	}
}

func TestSignatureTimeIsMeasured(t *testing.T) {
	s, err := newSigner()
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]func() (float64, error){"signature": s.sign, "verification": s.verify} {
		if one, err := of(); err != nil || one <= 0 {
			t.Errorf("a %s takes %v us: %v", name, one, err)
		}
	}
}
