// Package seed makes the seed of a send, `<unix ms>,<base64 of 10 bytes>`. The service derives the events' IDs from it
// (the nth adds n to the last 4 bytes), so events that are sent again under the same seed are stored once.
package seed

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	entropyBytes = 10
	crockford    = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// The service's own events have IDs whose random digits begin so. A seed cannot make one.
	ownEvent    = "SYSTEM"
	notOwnEvent = "SYSTEN"
)

var (
	form = regexp.MustCompile(`^(\d{1,15}),([A-Za-z0-9+/]{14}==)$`)
	ulid = regexp.MustCompile(`^([0-7][0-9A-HJKMNP-TV-Z]{9})[0-9A-HJKMNP-TV-Z]{16}$`)
)

// New is the seed of a send that begins now.
func New(now time.Time) string {
	entropy := make([]byte, entropyBytes)
	rand.Read(entropy) // never fails (crypto/rand)
	return write(now.UnixMilli(), entropy)
}

// OfStep is the same in every attempt of a step, and no other step's.
// The time in milliseconds counts when the run ID does not tell the time of its making, as a ULID does.
func OfStep(runID, hashedStepID string, timeMs int64) string {
	sum := sha256.Sum256([]byte(runID + ":" + hashedStepID))
	if ms, ok := ulidTimeMs(runID); ok {
		timeMs = ms
	}
	return write(max(0, timeMs), sum[:entropyBytes])
}

// From is the seed of the events from the one at this index on: they get the IDs that they would have in one request
// with the others. Fails when the seed is not one.
func From(seed string, index int) (string, error) {
	parts := form.FindStringSubmatch(seed)
	if parts == nil {
		return "", fmt.Errorf("a seed is <unix ms>,<base64 of 10 bytes>; got %q", seed)
	}
	entropy, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return "", fmt.Errorf("a seed is <unix ms>,<base64 of 10 bytes>; got %q", seed)
	}
	counter := entropy[entropyBytes-4:]
	binary.BigEndian.PutUint32(counter, binary.BigEndian.Uint32(counter)+uint32(index))
	return parts[1] + "," + base64.StdEncoding.EncodeToString(entropy), nil
}

// ID is the internal ID that the service gives the nth event of a send under the seed, counted from 1: a ULID of its time and bytes.
// Fails when the seed is not one.
func ID(seed string, n int) (string, error) {
	own, err := From(seed, n)
	if err != nil {
		return "", err
	}
	timeText, entropyText, _ := strings.Cut(own, ",")
	ms, err := strconv.ParseUint(timeText, 10, 64)
	if err != nil {
		return "", err
	}
	entropy, err := base64.StdEncoding.DecodeString(entropyText)
	if err != nil {
		return "", err
	}
	var id [26]byte
	for i := 9; i >= 0; i-- {
		id[i] = crockford[ms%32]
		ms /= 32
	}
	for i := range 16 {
		bits := 0
		for bit := i * 5; bit < i*5+5; bit++ {
			bits = bits<<1 | int(entropy[bit/8]>>(7-bit%8)&1)
		}
		id[10+i] = crockford[bits]
	}
	if string(id[10:16]) == ownEvent {
		copy(id[10:], notOwnEvent)
	}
	return string(id[:]), nil
}

func write(timeMs int64, entropy []byte) string {
	return strconv.FormatInt(timeMs, 10) + "," + base64.StdEncoding.EncodeToString(entropy)
}

func ulidTimeMs(id string) (int64, bool) {
	parts := ulid.FindStringSubmatch(id)
	if parts == nil {
		return 0, false
	}
	var ms int64
	for _, digit := range parts[1] {
		ms = ms*32 + int64(strings.IndexRune(crockford, digit))
	}
	return ms, true
}
