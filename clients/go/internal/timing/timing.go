// Package timing writes and reads delays and moments as the protocol has them.
package timing

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ISO is the form of a moment on the wire, always in UTC.
const ISO = "2006-01-02T15:04:05.000Z"

var (
	lengthForm = regexp.MustCompile(`^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w)\s*)+$`)
	lengthPart = regexp.MustCompile(`(\d+(?:\.\d+)?)(ms|s|m|h|d|w)`)
	seconds    = regexp.MustCompile(`^\d+(?:\.\d+)?$`)
)

// Write is a length of time on the wire: whole milliseconds, rounded up, never negative.
func Write(d time.Duration) string {
	return strconv.FormatInt(max(0, CeilTo(d, time.Millisecond)), 10) + "ms"
}

// CeilTo counts the units that the duration takes, a begun one among them.
func CeilTo(d, unit time.Duration) int64 {
	n := int64(d / unit)
	if d%unit > 0 {
		n++
	}
	return n
}

// WriteMoment is a moment on the wire.
func WriteMoment(t time.Time) string { return t.UTC().Format(ISO) }

// Parse reads a time string such as `30s`, `2h45m`, `1d`, `1w`.
func Parse(text string) (time.Duration, error) {
	if !lengthForm.MatchString(text) {
		return 0, fmt.Errorf(`got %q; a length of time is such as "30s", "2h45m", "1d"`, text)
	}
	var sum float64
	for _, part := range lengthPart.FindAllStringSubmatch(text, -1) {
		amount, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, fmt.Errorf("got %q: %w", text, err)
		}
		sum += amount * float64(unitOf(part[2]))
	}
	if sum > math.MaxInt64 {
		return 0, fmt.Errorf("got %q, which is longer than a time.Duration", text)
	}
	return time.Duration(sum), nil
}

func unitOf(name string) time.Duration {
	switch name {
	case "ms":
		return time.Millisecond
	case "s":
		return time.Second
	case "m":
		return time.Minute
	case "h":
		return time.Hour
	case "d":
		return 24 * time.Hour
	default:
		return 7 * 24 * time.Hour
	}
}

// Moment is when a time string, counted from now, or an ISO date is.
func Moment(text string, now time.Time) (time.Time, error) {
	if length, err := Parse(text); err == nil {
		return now.Add(length), nil
	}
	return time.Parse(time.RFC3339, text)
}

// RetryAfter is the delay that a retry-after header asks for, in seconds or as a date (RFC 9110, 10.2.3; ISO dates
// too). Not ok when it says nothing that can be understood; never negative.
func RetryAfter(header string, now time.Time) (delay time.Duration, ok bool) {
	value := strings.TrimSpace(header)
	if seconds.MatchString(value) {
		amount, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, false
		}
		return time.Duration(min(amount*float64(time.Second), math.MaxInt64/2)), true
	}
	at, ok := date(value)
	return max(0, at.Sub(now)), ok
}

func date(value string) (time.Time, bool) {
	if at, err := http.ParseTime(value); err == nil {
		return at, true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly, time.RFC1123Z, "Mon, 2 Jan 2006 15:04:05 MST"} {
		if at, err := time.Parse(layout, value); err == nil {
			return at, true
		}
	}
	// An ISO date and time without a zone is local (ECMAScript).
	at, err := time.ParseInLocation("2006-01-02T15:04:05", value, time.Local)
	return at, err == nil
}
