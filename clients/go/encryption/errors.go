package encryption

import (
	"fmt"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/place"
)

const (
	shownLength = 60
	orNotStrict = "or leave Strict out until the runs and events from before have ended"
)

func withoutPlace() error {
	return refused("encryption: version 2 binds values to their places: Encode and Decode need a context of the client's")
}

func unknownKey(keyID string) error {
	return refused("a value is encrypted with the key of ID %q, which is none of this app's keys: put the key that encrypted it into FallbackKeys", shown(keyID))
}

func unknownVersion(version int) error {
	return refused("a value is encrypted in version %d, and this client reads versions 1 and 2: upgrade the client", version)
}

// doesNotOpen is of version 1 without a place.
func doesNotOpen(keyID string, at place.Place) error {
	if at == nil {
		return refused("a value is encrypted with the key of ID %q, which does not decrypt it: it was changed, or made with another key: put the key that encrypted it into FallbackKeys", keyID)
	}
	return refused("a value that the key of ID %q encrypted cannot be decrypted as %s: it was moved here from another place, or was changed. Re-run the run from its start; if another key had this ID, put that into FallbackKeys", keyID, nameOf(at))
}

func notEncrypted(at place.Place) error {
	return refused("%s is not encrypted, which strict encryption refuses: encrypt it where it is written, with Version: 2, %s", nameOf(at), orNotStrict)
}

func isVersion1(at place.Place) error {
	return refused("%s is encrypted in version 1, which is bound to no place and which strict encryption refuses: set Version: 2 where it is written, %s", nameOf(at), orNotStrict)
}

// refused is not retried: no retry helps.
func refused(format string, args ...any) error {
	return tidegate.NonRetriable(fmt.Errorf(format, args...))
}

func nameOf(at place.Place) string {
	texts := make([]string, 4)
	for i, text := range at {
		if i < len(texts) {
			texts[i] = shown(text)
		}
	}
	switch {
	case texts[0] == "step":
		return fmt.Sprintf("the result of step %s of %s in run %s", texts[1], texts[2], texts[3])
	case texts[0] == "output":
		return fmt.Sprintf("the output of %s for %s", texts[1], texts[2])
	case len(at) > 2:
		return fmt.Sprintf("the event %q to %s from %s", texts[1], texts[2], texts[3])
	case len(at) > 1:
		return fmt.Sprintf("the event %q", texts[1])
	default:
		return "a value"
	}
}

// shown is bounded: the text can be anything, of any length.
func shown(text string) string {
	runes := []rune(text)
	if len(runes) <= shownLength {
		return text
	}
	return string(runes[:shownLength]) + "…"
}
