package tidegate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
)

// Publish sends data, as JSON, to the current subscribers of the topic; it is not stored. In a function it is
// repeated at each replay: prefer step.Publish, or call it inside a step.
func (c *Client) Publish(ctx context.Context, channel, topic string, data any) error {
	body, err := replay.Encode(data)
	if err != nil {
		return fmt.Errorf("the data for the channel %q cannot be written as JSON: %w", channel, err)
	}
	query := url.Values{"channel": {channel}, "topic": {topic}}
	if runID := run.Of(ctx).ID; runID != "" {
		query.Set("run_id", runID)
	}
	a, err := c.post(ctx, "/v1/realtime/publish?"+query.Encode(), body)
	if err == nil && !a.ok() {
		err = refusedBy(a, fmt.Sprintf("the message to the channel %q", channel))
	}
	return err
}

// SubscriptionToken lets its holder follow these topics of the channel for a while: give it only to permitted users.
func (c *Client) SubscriptionToken(ctx context.Context, channel string, topics ...string) (string, error) {
	if len(topics) == 0 {
		return "", errors.New("a subscription token needs a topic")
	}
	wanted := make([]fields, len(topics))
	for i, topic := range topics {
		wanted[i] = fields{"channel": channel, "name": topic, "kind": "run"}
	}
	body, err := replay.Encode(wanted)
	if err != nil {
		return "", err
	}
	a, err := c.post(ctx, "/v1/realtime/token", body)
	if err != nil {
		return "", err
	}
	var told struct {
		JWT string `json:"jwt"`
	}
	// A body that cannot be parsed has no token.
	_ = json.Unmarshal(a.body, &told)
	if !a.ok() || told.JWT == "" {
		return "", refusedBy(a, fmt.Sprintf("a token for the channel %q", channel))
	}
	return told.JWT, nil
}
