package tidegate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

func defineWith(t *testing.T, flow tidegate.FlowControl, on tidegate.Trigger) error {
	t.Helper()
	client := newClient(t, tidegate.ClientOpts{AppID: "shop"})
	options := tidegate.FunctionOpts{ID: "fn", FlowControl: flow}
	_, err := tidegate.CreateFunction(client, options, on, func(context.Context, tidegate.Input[any]) (any, error) { return nil, nil })
	return err
}

// The cases that all clients share cannot have zero values, and durations that no time string writes.
func TestFlowControlThatIsNotValidIsRefused(t *testing.T) {
	for _, c := range []struct {
		flow tidegate.FlowControl
		want string
	}{
		{tidegate.FlowControl{Throttle: &tidegate.Throttle{Limit: 1}}, "Throttle.Period must be a duration from 1s to 7d, got nothing"},
		{tidegate.FlowControl{Debounce: &tidegate.Debounce{Period: -time.Second}}, "Debounce.Period must be a duration from 1s to 7d, got -1s"},
		{tidegate.FlowControl{BatchEvents: &tidegate.BatchEvents{MaxSize: 2}}, "BatchEvents.Timeout must be a duration of at least 1s, got nothing"},
		{tidegate.FlowControl{Timeouts: &tidegate.Timeouts{Finish: -1}}, "Timeouts.Finish must be a duration from 1ms to 1827d, got -1ns"},
		{tidegate.FlowControl{Priority: &tidegate.Priority{}}, "Priority.Run must be a CEL expression, got nothing"},
		{tidegate.FlowControl{Singleton: &tidegate.Singleton{}}, `Singleton.Mode must be "skip" or "cancel", got ""`},
		{tidegate.FlowControl{CancelOn: []tidegate.CancelOn{{Event: "a", Timeout: -1}}}, `CancelOn[0].Timeout must be a duration such as "30s" or "7d", got -1ns`},
	} {
		err := defineWith(t, c.flow, tidegate.EventTrigger("order/paid"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("expected %q, got %v", c.want, err)
		}
	}
	err := defineWith(t, tidegate.FlowControl{}, tidegate.CronTrigger("@daily", tidegate.Jitter(-time.Second)))
	if err == nil || !strings.Contains(err.Error(), "Jitter must be a duration from 1s to 24h, got -1s") {
		t.Errorf("got %v", err)
	}
}
