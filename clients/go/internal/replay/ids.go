package replay

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
)

// HashID is a step's ID as the protocol has it.
func HashID(id string) string {
	sum := sha1.Sum([]byte(id))
	return hex.EncodeToString(sum[:])
}

// Numbering tells the repeats of each ID in one replay apart: `id`, `id:1`, `id:2`. It passes over what the code itself
// has taken. Its zero value is ready.
type Numbering struct {
	taken   map[string]bool
	repeats map[string]int
}

// Name is the next name of this ID.
func (n *Numbering) Name(id string) string {
	if n.taken == nil {
		n.taken, n.repeats = map[string]bool{}, map[string]int{}
	}
	repeat := n.repeats[id]
	name := numbered(id, repeat)
	for n.taken[name] {
		repeat++
		name = numbered(id, repeat)
	}
	n.repeats[id] = repeat + 1
	n.taken[name] = true
	return name
}

func numbered(id string, repeat int) string {
	if repeat == 0 {
		return id
	}
	return fmt.Sprintf("%s:%d", id, repeat)
}
