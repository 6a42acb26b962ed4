package conformance

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/connect"
)

type connectCase struct {
	titled
	Client    *clientOptions    `json:"client"`
	Functions []functionOptions `json:"functions"`
	Program   program           `json:"program"`
	Connect   struct {
		MaxConcurrency int    `json:"max_concurrency"`
		InstanceID     string `json:"instance_id"`
		AppVersion     string `json:"app_version"`
	} `json:"connect"`
	Talk   []talkEntry     `json:"talk"`
	States []connect.State `json:"states"`
	Error  json.RawMessage `json:"error"`
}

func connecting(t *testing.T, c connectCase) {
	g := playGateway(t)
	setEnvironment(t, nil, nil)
	if c.Client == nil {
		options := devClient()
		c.Client = &options
	}
	c.Client.logger = slog.New(slog.DiscardHandler)
	if c.Functions == nil {
		c.Functions = []functionOptions{{ID: "fn", Triggers: []triggerOptions{{Event: "order/paid"}}, Program: c.Program}}
	}
	client := c.Client.client(t, g.places)
	var functions []tidegate.ServableFunction
	for _, options := range c.Functions {
		functions = append(functions, options.create(t, client))
	}
	states := make(chan connect.State, 100)
	options := connect.Opts{
		MaxConcurrency: c.Connect.MaxConcurrency,
		InstanceID:     c.Connect.InstanceID,
		AppVersion:     c.Connect.AppVersion,
		OnState:        func(state connect.State) { states <- state },
	}
	go func() {
		connection, err := connect.Open(t.Context(), client, options, functions...)
		g.opened <- connectOutcome{connection, err}
	}()
	if c.Error != nil {
		g.play(t, c.Talk)
		g.checkRefused(t, c.Error)
		return
	}
	if !slices.ContainsFunc(c.Talk, func(entry talkEntry) bool { return entry["app"] != nil }) {
		c.Talk = append(c.Talk, talkEntry{"app": "close"}, talkEntry{"gets": "workerPause"}, talkEntry{"closes": 1000.0})
	}
	g.play(t, c.Talk)
	if err := awaited(t, g.closing, "the app has closed"); err != nil {
		t.Error(err)
	}
	close(states)
	if c.States == nil {
		c.States = []connect.State{connect.Connecting, connect.Ready, connect.Closing, connect.Closed}
	}
	if got := slices.Collect(receivedStates(states)); !slices.Equal(got, c.States) {
		t.Errorf("expected the states %v, got %v", c.States, got)
	}
	if len(g.incoming) > 0 {
		t.Errorf("more came: %s", (<-g.incoming).frame)
	}
}

func receivedStates(states chan connect.State) func(func(connect.State) bool) {
	return func(yield func(connect.State) bool) {
		for state := range states {
			if !yield(state) {
				return
			}
		}
	}
}

func (g *playedGateway) checkRefused(t *testing.T, expected json.RawMessage) {
	t.Helper()
	outcome := awaited(t, g.opened, "the app is refused")
	if outcome.err == nil {
		t.Fatal("it is connected")
	}
	got := map[string]any{"code": nil, "message": outcome.err.Error()}
	var refused *connect.Error
	if errors.As(outcome.err, &refused) && refused.Code != "" {
		got["code"] = refused.Code
	}
	g.places.checkJSON(t, "error", expected, must(json.Marshal(got)))
}

func TestAConnectionIsOpenThoughItEndsAtOnce(t *testing.T) {
	g := playGateway(t)
	setEnvironment(t, nil, nil)
	options := devClient()
	options.logger = slog.New(slog.DiscardHandler)
	client := options.client(t, g.places)
	fn := functionOptions{ID: "fn", Triggers: []triggerOptions{{Event: "order/paid"}}}.create(t, client)
	reconnects := make(chan struct{})
	onState := func(state connect.State) {
		if state == connect.Ready {
			<-reconnects
		}
	}
	go func() {
		connection, err := connect.Open(t.Context(), client, connect.Opts{OnState: onState}, fn)
		g.opened <- connectOutcome{connection, err}
	}()
	g.play(t, []talkEntry{{"connects": map[string]any{}}, {"gets": "workerReady"}, {"cuts": true}})
	start := g.next(t, talkEntry{"request": "of the next connection"})
	close(reconnects)
	g.playEntry(t, talkEntry{"app": "close"})
	start.reply <- json.RawMessage(`{"status":503,"body":{}}`)
	if err := awaited(t, g.closing, "the app has closed"); err != nil {
		t.Error(err)
	}
}
