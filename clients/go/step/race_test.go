package step_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

// hurry is a race of a step and a sleep.
func hurry(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
	first, err := step.Race(ctx, runs("a"), func(ctx context.Context) (any, error) { return "late", step.Sleep(ctx, "nap", time.Hour) })
	return fmt.Sprint("first ", first), err
}

func TestARaceEndsWithTheFirst(t *testing.T) {
	for title, c := range map[string]struct {
		steps map[string]string
		order []string
		want  string
	}{
		"with the only one that has ended":          {map[string]string{"a": `{"data":"a"}`}, nil, `"first a"`},
		"with the one that has ended before":        {map[string]string{"a": `{"data":"a"}`, "nap": "null"}, []string{"nap", "a"}, `"first late"`},
		"not with the first in the function's code": {map[string]string{"nap": "null"}, nil, `"first late"`},
	} {
		t.Run(title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				expect(t, "output", call(t, hurry, called{steps: c.steps, order: c.order, planned: true}).body, c.want)
			})
		})
	}
	t.Run("and tells the service, of steps inside of its branches too", func(t *testing.T) {
		a := call(t, func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
			return step.All(ctx, runs("b"), func(ctx context.Context) (any, error) {
				return step.Race(ctx, func(ctx context.Context) (any, error) { return step.All(ctx, runs("c"), runs("d")) })
			})
		}, called{})
		for _, op := range a.ops {
			expect(t, op.DisplayName, fmt.Sprint(op.Opts), "map[parallelMode:race]")
		}
		expect(t, "ops", a.opNames(), "StepPlanned b; StepPlanned c; StepPlanned d; ")
	})
	t.Run("it needs branches", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) { return step.Race[any](ctx) }, called{})
		expect(t, "error", a.failure.Message, "a race needs branches")
	})
}
