package step_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

func TestWaitForSignal(t *testing.T) {
	type approval struct{ By string }
	wait := func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		got, err := step.WaitForSignal[approval](ctx, "w", step.WaitForSignalOpts{Signal: "approval/A1", Timeout: time.Hour, Replace: true})
		if errors.Is(err, step.ErrSignalNotReceived) {
			return "late", nil
		}
		return got.By, err
	}
	t.Run("reports the wait", func(t *testing.T) {
		a := call(t, wait, called{})
		expect(t, "ops", a.opNames(), "WaitForSignal w; ")
		expect(t, "opts", fmt.Sprint(a.ops[0].Name, a.ops[0].Opts), "approval/A1map[conflict:replace signal:approval/A1 timeout:3600000ms]")
	})
	for memo, output := range map[string]string{
		`{"data":{"signal":"approval/A1","data":{"by":"ada"}}}`: `"ada"`,
		`{"data":{"signal":"approval/A1","data":null}}`:         `""`,
		`{"data":{"signal":"approval/A1"}}`:                     `""`,
		`null`:                                                  `"late"`,
	} {
		t.Run("returns what has come: "+memo, func(t *testing.T) {
			expect(t, "output", call(t, wait, called{steps: map[string]string{"w": memo}}).body, output)
		})
	}
	t.Run("needs a signal and a time", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			return step.WaitForSignal[any](ctx, "w", step.WaitForSignalOpts{Signal: "s"})
		}, called{})
		expect(t, "error", a.failure.Message, `step "w" waits for a signal: it needs Signal, and Timeout or Until`)
	})
}
