package growth

import "os"

// sizes are those of the long form, or the first of them.
func sizes(all ...int) []int {
	if os.Getenv("GATEHOUSE_SOAK") == "" {
		return all[:1]
	}
	return all
}

// size is the long size, or the short one.
func size(short, long int) int {
	all := sizes(short, long)
	return all[len(all)-1]
}
