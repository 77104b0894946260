// Package list owns what a list is asked for and how it says where one is in it:
// page, limit, sort, state and filters, the upstream's own parameters for them, the
// total, the pagination object and the Link header. It sees no answer and reads no JSON.
package list
