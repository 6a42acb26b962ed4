// Package conformance runs the cases that every client and the service agree on (clients/conformance).
package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

const folder = "../../conformance"

// topics has an adapter for each. An adapter reads a case into a struct: a field that it does not have fails the case.
var topics = map[string]func(t *testing.T, c json.RawMessage){
	"canonical-json":    adapter(canonicalJSON),
	"seeds":             adapter(seeds),
	"step-ids":          adapter(stepIDs),
	"signatures":        adapter(signatures),
	"definitions":       adapter(definitions),
	"signed-urls":       adapter(signedURLs),
	"durations":         adapter(durations),
	"retry-after":       adapter(retryAfter),
	"sends":             adapter(sends),
	"validation":        adapter(validation),
	"registration":      adapter(registration),
	"serving":           adapter(serving),
	"replay":            adapter(replaying),
	"checkpoints":       adapter(replaying),
	"checkpoint-groups": adapter(checkpointGroups),
	"webhooks":          adapter(webhooks),
	"encryption":        adapter(encryptions),
	"logs":              adapter(logs),
	"connect":           adapter(connecting),
	"idempotency-keys":  adapter(idempotencyKeys),
	"postgres":          adapter(statements),
}

func TestConformance(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) < len(topics) {
		t.Fatalf("there are %d files of cases for %d topics: %v", len(files), len(topics), err)
	}
	for _, path := range files {
		var file struct {
			Topic string            `json:"topic"`
			About string            `json:"about"`
			Cases []json.RawMessage `json:"cases"`
		}
		read(t, must(os.ReadFile(path)), &file)
		run := topics[file.Topic]
		if run == nil {
			t.Errorf("%s: the topic %q is not known here", path, file.Topic)
			continue
		}
		t.Run(file.Topic, func(t *testing.T) {
			for _, c := range file.Cases {
				var titled struct{ Title string }
				if err := json.Unmarshal(c, &titled); err != nil {
					t.Fatal(err)
				}
				t.Run(titled.Title, func(t *testing.T) { run(t, c) })
			}
		})
	}
}

func adapter[Case any](run func(t *testing.T, c Case)) func(*testing.T, json.RawMessage) {
	return func(t *testing.T, text json.RawMessage) {
		var c Case
		read(t, text, &c)
		run(t, c)
	}
}

// titled is what each case has.
type titled struct {
	Title string `json:"title"`
}

// read fails for a field that nothing reads.
func read(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := readStrictly(text, into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func readStrictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
