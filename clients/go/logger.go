package tidegate

import (
	"context"
	"log/slog"
	"slices"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// runHandler logs nothing while the code is repeating steps of earlier calls. Its lines are also collected.
type runHandler struct {
	// app is the app's own.
	app slog.Handler
	now replay.Now
	// logs is nil if lines are not collected.
	logs   *logCollector
	groups []string
	attrs  []groupedAttr
}

// groupedAttr is an attribute that WithAttrs was given, in the groups until then.
type groupedAttr struct {
	groups []string
	attr   slog.Attr
}

// Enabled does not depend on the app's own level for collected lines, except for debug.
func (h runHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return !h.now.Repeating() && (h.collects(level) || h.app.Enabled(ctx, level))
}

func (h runHandler) collects(level slog.Level) bool { return h.logs != nil && level >= slog.LevelInfo }

func (h runHandler) Handle(ctx context.Context, record slog.Record) error {
	wanted := h.app.Enabled(ctx, record.Level)
	if h.logs != nil && (wanted || h.collects(record.Level)) {
		h.logs.add(record.Time, record.Level, record.Message, func() map[string]any { return h.fieldsOf(record) }, h.now.Step())
	}
	if !wanted {
		return nil
	}
	return h.app.Handle(ctx, record)
}

func (h runHandler) fieldsOf(record slog.Record) map[string]any {
	fields := map[string]any{}
	for _, each := range h.attrs {
		put(fields, each.groups, each.attr)
	}
	record.Attrs(func(attr slog.Attr) bool {
		put(fields, h.groups, attr)
		return true
	})
	return fields
}

func put(fields map[string]any, groups []string, attr slog.Attr) {
	for _, group := range groups {
		inner, ok := fields[group].(map[string]any)
		if !ok {
			inner = map[string]any{}
			fields[group] = inner
		}
		fields = inner
	}
	fields[attr.Key] = fieldOf(attr.Value)
}

func (h runHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.app = h.app.WithAttrs(attrs)
	h.attrs = slices.Clone(h.attrs)
	for _, attr := range attrs {
		h.attrs = append(h.attrs, groupedAttr{h.groups, attr})
	}
	return h
}

func (h runHandler) WithGroup(name string) slog.Handler {
	h.app = h.app.WithGroup(name)
	if name != "" {
		h.groups = append(slices.Clone(h.groups), name)
	}
	return h
}
