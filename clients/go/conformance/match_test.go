package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// places are the values of the placeholders of a case.
type places map[string]string

func newPlaces() places {
	return places{"sdk": "go:v" + tidegate.Version, "framework": "net/http"}
}

var placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)

// fill puts in what is known.
func (p places) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		if value, known := p[strings.Trim(found, "{}")]; known {
			return value
		}
		return found
	})
}

func (p places) fillJSON(text json.RawMessage) json.RawMessage {
	return json.RawMessage(p.fill(string(text)))
}

const seedPattern = `\d{1,15},[A-Za-z0-9+/]{14}==`

// matches compares a text with a text that may have placeholders. The first seed that it meets is then known.
func (p places) matches(expected, actual string) bool {
	pattern, last, seeds := "^", 0, 0
	filled := p.fill(expected)
	for _, at := range placeholder.FindAllStringSubmatchIndex(filled, -1) {
		pattern += regexp.QuoteMeta(filled[last:at[0]])
		if filled[at[2]:at[3]] == "seed" {
			pattern += "(" + seedPattern + ")"
			seeds++
		} else {
			pattern += "(?:.+)"
		}
		last = at[1]
	}
	found := regexp.MustCompile("(?s)" + pattern + regexp.QuoteMeta(filled[last:]) + "$").FindStringSubmatch(actual)
	if found != nil && seeds > 0 {
		p["seed"] = found[1]
	}
	return found != nil
}

// compare tells where a JSON value is not as expected; nil when it is.
func (p places) compare(expected, actual any, at string) error {
	if expected == "{{timing}}" {
		return compareTiming(actual, at)
	}
	switch want := expected.(type) {
	case string:
		if got, ok := actual.(string); ok && (p.matches(want, got) || sameLength(at, want, got)) {
			return nil
		}
	case []any:
		return p.compareLists(want, actual, at)
	case map[string]any:
		return p.compareObjects(want, actual, at)
	default:
		if reflect.DeepEqual(expected, actual) {
			return nil
		}
	}
	return fmt.Errorf("%s: expected %v, got %v", at, expected, actual)
}

func compareTiming(actual any, at string) error {
	timing, _ := actual.(map[string]any)
	for _, name := range []string{"a", "b"} {
		if value, ok := timing[name].(float64); !ok || value < 0 || len(timing) != 2 {
			return fmt.Errorf("%s: expected a timing, got %v", at, actual)
		}
	}
	return nil
}

// lengths are where the wire has a length of time. In Go that is a time.Duration, so it comes out in milliseconds.
var lengths = regexp.MustCompile(`\.(period|timeout|window|duration|name|start|finish|jitter)$`)

func sameLength(at, want, got string) bool {
	a, errA := timing.Parse(want)
	b, errB := timing.Parse(got)
	return lengths.MatchString(at) && errA == nil && errB == nil && a == b
}

func (p places) compareLists(want []any, actual any, at string) error {
	got, ok := actual.([]any)
	if text, is := actual.(string); is && strings.HasSuffix(at, ".message") {
		return p.holdsAll(want, text, at)
	}
	if !ok || len(got) != len(want) {
		return fmt.Errorf("%s: expected %v, got %v", at, want, actual)
	}
	for i := range want {
		if err := p.compare(want[i], got[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}

func (p places) holdsAll(parts []any, text, at string) error {
	for _, part := range parts {
		if !strings.Contains(text, p.fill(part.(string))) {
			return fmt.Errorf("%s: expected %q in %q", at, part, text)
		}
	}
	return nil
}

func (p places) compareObjects(want map[string]any, actual any, at string) error {
	got, ok := actual.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: expected %v, got %v", at, want, actual)
	}
	_, isError := want["message"]
	for name, value := range got {
		_, expected := want[name]
		_, isText := value.(string)
		_, isObject := value.(map[string]any)
		if !expected && !(isError && (isText && name == "stack" || isObject && name == "source")) {
			return fmt.Errorf("%s: got %q, which is not expected: %v", at, name, value)
		}
	}
	for name, value := range want {
		if _, there := got[name]; !there {
			return fmt.Errorf("%s: expected %q, got %v", at, name, got)
		}
		if err := p.compare(value, got[name], at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// checkJSON compares a body.
func (p places) checkJSON(t *testing.T, what string, expected json.RawMessage, actual []byte) {
	t.Helper()
	var want, got any
	if err := json.Unmarshal(expected, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(actual, &got); err != nil {
		t.Errorf("%s is not JSON: %s", what, actual)
		return
	}
	if err := p.compare(want, got, what); err != nil {
		t.Error(err)
	}
}

// checkMessage wants each of the texts in the message.
func (p places) checkMessage(t *testing.T, texts []string, message string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(message, p.fill(text)) {
			t.Errorf("expected %q in the message %q", text, message)
		}
	}
}

// checkHeaders compares the headers that are named, and the headers that are always the same, or absent.
func (p places) checkHeaders(t *testing.T, expected map[string]*string, always map[string]string, actual http.Header) {
	t.Helper()
	all := map[string]*string{}
	for _, name := range []string{"x-service-env", "authorization", "x-service-event-id-seed", "x-service-no-retry", "retry-after"} {
		all[name] = nil
	}
	for name, value := range always {
		all[name] = &value
	}
	for name, value := range expected {
		all[name] = value
	}
	for name, value := range all {
		got := actual.Get(name)
		if value == nil && got != "" {
			t.Errorf("the header %s: expected none, got %q", name, got)
		}
		if value != nil && !p.matches(*value, got) {
			t.Errorf("the header %s: expected %q, got %q", name, *value, got)
		}
	}
}
