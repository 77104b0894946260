package hashslot

import (
	"strconv"
	"sync"
)

// Count is the number of slots.
const Count = 1 << 14

// crcTable is that of CRC-16/XMODEM.
var crcTable = sync.OnceValue(func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
		table[i] = crc
	}
	return table
})

// Of returns the slot of a hash tag: what a key has between its first { and }, without these.
func Of(tag string) int {
	table := crcTable()
	crc := uint16(0)
	for i := range len(tag) {
		crc = crc<<8 ^ table[byte(crc>>8)^tag[i]]
	}
	return int(crc % Count)
}

// Spread divides all slots into equal parts and returns for each the lowest number that, behind the prefix, gives
// a hash tag in the middle half of that part.
func Spread(prefix string, parts int) []int {
	numbers := make([]int, parts)
	for n, left := 0, parts; left > 0; n++ {
		at := Of(prefix+strconv.Itoa(n)) * parts * 4
		part, quarter := at/4/Count, at/Count%4
		if numbers[part] == 0 && (quarter == 1 || quarter == 2) {
			numbers[part] = n + 1
			left--
		}
	}
	for i := range numbers {
		numbers[i]--
	}
	return numbers
}
