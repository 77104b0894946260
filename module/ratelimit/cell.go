package ratelimit

import (
	"encoding/binary"
	"math/bits"
)

// A [State] takes 272 bytes, but most callers send requests in only some of the 60 slots of a
// window. So a State is stored as a cell of 64 bytes, one line of the processor's cache: a
// bitmap of the slots that hold units, then the number of units in each as a varint. If these
// do not fit, the cell refers to a block with all counters. Loading a cell returns exactly the
// State that was stored; every decision is made on a State.
//
// A cell holds neither the subject's text nor the policy's name. The subject is a keyed hash of
// 128 bits; two subjects with the same hash would be counted together, which never lets anybody
// exceed a limit.

// kind says in which list of its line a cell is.
type kind uint8

const (
	light  kind = iota // a subject that has used at most half of its limit
	heavy              // one that has used more
	shared             // a bucket, see [table.evict]
	kinds
)

const (
	cellShift  = 6  // 64 cells in a page
	blockShift = 4  // 16 blocks
	headShift  = 10 // 1024 heads

	cellBytes  = 64 + 4 // with its head in the index
	blockBytes = ring*4 + 4
)

type cell struct {
	subject    [2]uint64 // a hash; for a bucket see [bucketID]
	oldest     int64     // the first slot with units
	held       uint64    // bit i: slot oldest+i holds units
	chain      link      // the next cell with the same head in the index
	prev, next link      // in a list of the line
	line       uint32    // which policy, see [table.lines]
	kind       kind
	dense      bool     // counts is a link to a block
	counts     [14]byte // the units of the slots in held, each as a varint
}

// block holds the counters of one cell that needs many.
type block struct {
	units [ring]uint32
	owner link // the cell
}

// packed is a State in the form of a cell, if it fits.
type packed struct {
	oldest int64
	held   uint64
	counts [14]byte
	fits   bool
}

// packState expects a State with at least one unit in the slot oldest.
func packState(s *State) packed {
	p := packed{oldest: s.oldest, fits: true}
	used, at := 0, s.oldest%ring
	for i := range s.newest - s.oldest + 1 {
		if n := s.units[at]; n > 0 {
			p.held |= 1 << i
			if used+varintLen(n) > len(p.counts) {
				p.fits = false
			}
			if p.fits {
				used += binary.PutUvarint(p.counts[used:], uint64(n))
			}
		}
		if at++; at == ring {
			at = 0
		}
	}
	return p
}

func varintLen(n uint32) int { return (bits.Len32(n) + 6) / 7 }

// newestSlot returns the last slot with units.
func (c *cell) newestSlot() int64 { return c.oldest + int64(bits.Len64(c.held)) - 1 }

// denseBlock returns the block of a dense cell.
func (c *cell) denseBlock() link { return binary.LittleEndian.Uint32(c.counts[:]) }

func (c *cell) setBlock(block link) {
	c.dense = true
	binary.LittleEndian.PutUint32(c.counts[:], block)
}

// unpackState loads the State of a cell without a block.
func (c *cell) unpackState(s *State) {
	*s = State{oldest: c.oldest, newest: c.newestSlot()}
	used, first := 0, c.oldest%ring
	for set := c.held; set != 0; set &= set - 1 {
		n := uint64(c.counts[used])
		if n < 0x80 {
			used++
		} else {
			var size int
			n, size = binary.Uvarint(c.counts[used:])
			used += size
		}
		at := first + int64(bits.TrailingZeros64(set))
		if at >= ring {
			at -= ring
		}
		s.units[at] = uint32(n)
		s.total += int64(n)
	}
}
