package step

import (
	"context"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
)

// Publish sends data to the current subscribers of the topic once: replays do not repeat it.
func Publish(ctx context.Context, id, channel, topic string, data any) error {
	_, err := replay.Do(ctx, replay.Description{
		Kind: replay.KindRun,
		ID:   id,
		Opts: map[string]any{"type": "step.realtime.publish"},
		Run: func(ctx context.Context, _ string) (any, error) {
			return nil, run.Of(ctx).Service.Publish(ctx, channel, topic, data)
		},
	})
	return err
}
