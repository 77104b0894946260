package list

// Reach is the greatest number of an element that can be asked for: page times limit is at
// most that.
const Reach = reach
