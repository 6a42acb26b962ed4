package conformance

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/canonical"
	"github.com/tidegate/tidegate/clients/go/internal/pg"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
	"github.com/tidegate/tidegate/clients/go/internal/seed"
	"github.com/tidegate/tidegate/clients/go/internal/signature"
	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

type canonicalCase struct {
	titled
	JSON      string `json:"json"`
	Canonical string `json:"canonical"`
}

func canonicalJSON(t *testing.T, c canonicalCase) {
	var value any
	if err := json.Unmarshal([]byte(c.JSON), &value); err != nil {
		t.Fatal(err)
	}
	got, err := canonical.Marshal(value)
	if err != nil || string(got) != c.Canonical {
		t.Errorf("expected %s, got %s, %v", c.Canonical, got, err)
	}
}

type seedCase struct {
	titled
	Of struct {
		Seed         *string  `json:"seed"`
		Index        int      `json:"index"`
		RunID        string   `json:"run_id"`
		HashedStepID string   `json:"hashed_step_id"`
		EventTS      *float64 `json:"event_ts"`
	} `json:"of"`
	Seed *string `json:"seed"`
	// ID is the service's to make of it; the relay of an outbox looks it up.
	ID string `json:"id"`
}

func seeds(t *testing.T, c seedCase) {
	got, err := "", error(nil)
	if c.Of.Seed != nil {
		got, err = seed.From(*c.Of.Seed, c.Of.Index)
	} else {
		var ts int64
		if c.Of.EventTS != nil {
			ts = int64(*c.Of.EventTS)
		}
		got = seed.OfStep(c.Of.RunID, c.Of.HashedStepID, ts)
	}
	if c.Seed == nil && err == nil {
		t.Errorf("expected a refusal, got %q", got)
	}
	if c.Seed != nil && got != *c.Seed {
		t.Errorf("expected %q, got %q, %v", *c.Seed, got, err)
	}
	if c.Seed == nil {
		return
	}
	if id, err := seed.ID(*c.Seed, 1); err != nil || id != c.ID {
		t.Errorf("expected the event %q, got %q, %v", c.ID, id, err)
	}
}

type stepIDsCase struct {
	titled
	IDs    []string `json:"ids"`
	Names  []string `json:"names"`
	Hashes []string `json:"hashes"`
}

func stepIDs(t *testing.T, c stepIDsCase) {
	var numbering replay.Numbering
	var names, hashes []string
	for _, id := range c.IDs {
		names = append(names, numbering.Name(id))
		hashes = append(hashes, replay.HashID(names[len(names)-1]))
	}
	if !slices.Equal(names, c.Names) || !slices.Equal(hashes, c.Hashes) {
		t.Errorf("expected %v %v, got %v %v", c.Names, c.Hashes, names, hashes)
	}
}

type idempotencyKeyCase struct {
	titled
	RunID string `json:"run_id"`
	Step  string `json:"step"`
	Key   string `json:"key"`
}

func idempotencyKeys(t *testing.T, c idempotencyKeyCase) {
	if got := run.IdempotencyKey(c.RunID, replay.HashID(c.Step)); got != c.Key {
		t.Errorf("expected %q, got %q", c.Key, got)
	}
}

type statementCase struct {
	titled
	Name       string          `json:"name"`
	SQL        json.RawMessage `json:"sql"`
	Parameters []string        `json:"parameters"`
}

// statements: the tables are for the app's migrations, and the command line's to print.
func statements(t *testing.T, c statementCase) {
	var sql string
	if c.Name == "schema" {
		return
	}
	if err := json.Unmarshal(c.SQL, &sql); err != nil {
		t.Fatal(err)
	}
	if got := pg.Statements[c.Name]; got != sql {
		t.Errorf("expected %q, got %q", sql, got)
	}
}

type signatureCase struct {
	titled
	Body   string   `json:"body"`
	Header *string  `json:"header"`
	Now    float64  `json:"now"`
	Keys   []string `json:"keys"`
	Flaw   []string `json:"flaw"`
	Bearer string   `json:"bearer"`
}

func signatures(t *testing.T, c signatureCase) {
	header := ""
	if c.Header != nil {
		header = *c.Header
	}
	checkFlaw(t, c.Flaw, signature.Flaw(header, []byte(c.Body), c.Keys, time.UnixMilli(int64(c.Now*1_000))))
	if got := "Bearer " + signature.Bearer(c.Keys[0]); got != c.Bearer {
		t.Errorf("expected the bearer %q, got %q", c.Bearer, got)
	}
}

type definitionCase struct {
	titled
	Function json.RawMessage `json:"function"`
	// Untyped: it does not fit the type of a function's options, so it does not compile.
	Untyped bool     `json:"untyped"`
	Flaw    []string `json:"flaw"`
}

func definitions(t *testing.T, c definitionCase) {
	if c.Untyped {
		return
	}
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	var options functionOptions
	read(t, c.Function, &options)
	flaw := ""
	if _, err := options.define(client); err != nil {
		flaw = err.Error()
	}
	for i, words := range c.Flaw {
		c.Flaw[i] = fieldForm.ReplaceAllStringFunc(words, fieldInGo)
	}
	checkFlaw(t, c.Flaw, flaw)
}

var fieldForm = regexp.MustCompile(`\{\{field ([^}]+)\}\}`)

// fieldInGo is the name of an option in the words of a flaw, as this library spells it.
func fieldInGo(placeholder string) string {
	field := fieldForm.FindStringSubmatch(placeholder)[1]
	field = strings.Replace(strings.Replace(field, "concurrency.fn", "runConcurrency", 1), "concurrency.step", "concurrency", 1)
	names := strings.Split(field, ".")
	for i, name := range names {
		names[i] = strings.ToUpper(name[:1]) + name[1:]
	}
	return strings.Join(names, ".")
}

type signedURLCase struct {
	titled
	URL       string   `json:"url"`
	Body      string   `json:"body"`
	Header    string   `json:"header"`
	URLHeader *string  `json:"url_header"`
	Keys      []string `json:"keys"`
	Flaw      []string `json:"flaw"`
}

func signedURLs(t *testing.T, c signedURLCase) {
	urlHeader := ""
	if c.URLHeader != nil {
		urlHeader = *c.URLHeader
	}
	checkFlaw(t, c.Flaw, signature.URLFlaw(urlHeader, c.Header, signature.TargetOf(c.URL), []byte(c.Body), c.Keys))
}

// checkFlaw wants none when none is expected, and else each of the texts.
func checkFlaw(t *testing.T, expected []string, flaw string) {
	t.Helper()
	if (expected == nil) != (flaw == "") {
		t.Errorf("expected the flaw %q, got %q", expected, flaw)
	}
	for _, text := range expected {
		if !strings.Contains(flaw, text) {
			t.Errorf("expected %q in the flaw %q", text, flaw)
		}
	}
}

type durationCase struct {
	titled
	Value json.RawMessage `json:"value"`
	Wire  *string         `json:"wire"`
	Ms    *float64        `json:"ms"`
}

// durations: a length of time is a time.Duration in Go, and milliseconds on the wire; time strings are read.
func durations(t *testing.T, c durationCase) {
	length, err := lengthOf(c.Value)
	if c.Wire == nil {
		if err == nil {
			t.Errorf("expected a refusal, got %v", length)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	wire := timing.Write(length)
	if wire != strconv.FormatFloat(*c.Ms, 'f', -1, 64)+"ms" {
		t.Errorf("expected %v ms, got %s", *c.Ms, wire)
	}
	if expected, err := timing.Parse(*c.Wire); err != nil || timing.Write(expected) != wire {
		t.Errorf("expected the length of %q, got %s, %v", *c.Wire, wire, err)
	}
}

// lengthOf milliseconds, or a time string.
func lengthOf(value json.RawMessage) (time.Duration, error) {
	var ms float64
	if json.Unmarshal(value, &ms) == nil {
		return time.Duration(ms * float64(time.Millisecond)), nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return 0, err
	}
	return timing.Parse(text)
}

type retryAfterCase struct {
	titled
	Header  *string   `json:"header"`
	Now     time.Time `json:"now"`
	DelayMs *float64  `json:"delay_ms"`
}

func retryAfter(t *testing.T, c retryAfterCase) {
	header := ""
	if c.Header != nil {
		header = *c.Header
	}
	delay, ok := timing.RetryAfter(header, c.Now)
	if ok != (c.DelayMs != nil) {
		t.Fatalf("expected %v, got %v, %v", c.DelayMs, delay, ok)
	}
	if ok && float64(delay)/float64(time.Millisecond) != *c.DelayMs {
		t.Errorf("expected %v ms, got %v", *c.DelayMs, delay)
	}
}
