package tidegate

import (
	"context"
	"log/slog"
)

// quietHandler says nothing while the code repeats what it did in earlier calls.
type quietHandler struct {
	slog.Handler
	replaying func() bool
}

func (h quietHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return !h.replaying() && h.Handler.Enabled(ctx, level)
}

func (h quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietHandler{h.Handler.WithAttrs(attrs), h.replaying}
}

func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.Handler.WithGroup(name), h.replaying}
}
