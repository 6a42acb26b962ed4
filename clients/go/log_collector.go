package tidegate

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

const (
	maxLogLines      = 200
	maxLogLineLength = 8_000
	maxLogLength     = 64_000
)

// logLine is as the service takes it (docs/protocol.md#logs).
type logLine struct {
	// At is in milliseconds since 1970.
	At      int64          `json:"at"`
	Level   string         `json:"level"`
	Message string         `json:"message"`
	Fields  map[string]any `json:"fields,omitempty"`
	// Step is the hashed ID of the step that wrote the line; empty: outside of steps.
	Step string `json:"step,omitempty"`
}

// logCollector collects the lines that a function logs in one call, within limits.
type logCollector struct {
	mu      sync.Mutex
	lines   []logLine
	length  int
	dropped int
}

// add never panics, whatever the fields are: what cannot be written as JSON is left out. Step is a name.
func (c *logCollector) add(at time.Time, level slog.Level, message string, fields func() map[string]any, step string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) >= maxLogLines || c.length >= maxLogLength {
		c.dropped++
		return
	}
	line := logLine{At: at.UnixMilli(), Level: levelName(level), Message: shortened(message, maxLogLineLength)}
	line.Fields = boundedFields(fields, maxLogLineLength-len(line.Message))
	if step != "" {
		line.Step = replay.HashID(step)
	}
	text, err := replay.Encode(line)
	if err != nil || c.length+len(text) > maxLogLength {
		c.dropped++
		// After a line that is left out, further lines would look as if nothing were missing.
		c.length = maxLogLength
		return
	}
	c.length += len(text)
	c.lines = append(c.lines, line)
}

// takeBatch takes the lines logged since it was last called, and resets the limits; nil: there are no lines.
func (c *logCollector) takeBatch(id string, attempt int) fields {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) == 0 {
		return nil
	}
	taken := fields{"batch": id, "attempt": attempt, "lines": c.lines, "dropped": c.dropped}
	c.lines, c.length, c.dropped = nil, 0, 0
	return taken
}

func levelName(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "error"
	case level >= slog.LevelWarn:
		return "warn"
	case level >= slog.LevelInfo:
		return "info"
	default:
		return "debug"
	}
}

func boundedFields(read func() map[string]any, room int) (kept map[string]any) {
	defer func() {
		// A LogValuer or a Marshaler is the app's own code.
		if value := recover(); value != nil {
			kept = map[string]any{"…": fmt.Sprintf("cannot be read: %v", value)}
		}
	}()
	given := read()
	if len(given) == 0 {
		return nil
	}
	if text, err := replay.Encode(given); err != nil || len(text) > room || depthOf(text) > 8 {
		return map[string]any{"…": "too large"}
	}
	return given
}

// fieldOf is a value that can be written as JSON.
func fieldOf(value slog.Value) any {
	value = value.Resolve()
	switch value.Kind() {
	case slog.KindGroup:
		group := map[string]any{}
		for _, attr := range value.Group() {
			group[attr.Key] = fieldOf(attr.Value)
		}
		return group
	case slog.KindAny:
		if err, ok := value.Any().(error); ok {
			return map[string]any{"name": nameOf(err), "message": shortened(err.Error(), maxLogLineLength)}
		}
		text, err := replay.Encode(value.Any())
		if err != nil {
			// Printing it could end the process: it may contain itself.
			return fmt.Sprintf("(a %T, which cannot be written as JSON)", value.Any())
		}
		return json.RawMessage(text)
	case slog.KindDuration:
		return value.Duration().String()
	case slog.KindFloat64:
		if text, err := replay.Encode(value.Float64()); err == nil {
			return json.RawMessage(text)
		}
		return fmt.Sprint(value.Float64())
	default:
		return value.Any()
	}
}

// depthOf counts brackets, including brackets in texts: it returns at least the depth.
func depthOf(text []byte) int {
	depth, deepest := 0, 0
	for _, char := range text {
		switch char {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

func shortened(text string, length int) string {
	if len(text) <= length {
		return text
	}
	return strings.ToValidUTF8(text[:length-len("…")], "") + "…"
}
