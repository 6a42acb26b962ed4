package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

// say writes what a function does.
func say(functionID, format string, values ...any) {
	fmt.Printf("%-18s%s\n", functionID, fmt.Sprintf(format, values...))
}

// shop makes every function of the shop.
func shop(client *tidegate.Client) ([]tidegate.ServableFunction, error) {
	var functions []tidegate.ServableFunction
	var problems []error
	add := func(fn tidegate.ServableFunction, err error) {
		functions, problems = append(functions, fn), append(problems, err)
	}
	paid := tidegate.EventTrigger("order/paid")
	big := tidegate.EventTrigger("order/paid", tidegate.If("event.data.total > 100"))
	add(tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "send-receipt", Name: "Send receipt"}, paid, sendReceipt))
	add(tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "reward-big-order", Name: "Reward big order"}, big, rewardBigOrder))
	add(tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "flaky-stock-sync", Name: "Sync stock with the warehouse"},
		tidegate.EventTrigger("stock/changed"), syncStock))
	add(tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "on-push", Name: "Log pushes"},
		tidegate.EventTrigger("github/push"), logPush))
	add(tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "audit", Name: "Audit orders"},
		tidegate.EventTrigger("order/*"), audit))
	add(tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fulfil-order", Name: "Fulfil order", OnFailure: askForHelp},
		tidegate.EventTrigger("order/placed"), fulfilOrder))
	return functions, errors.Join(problems...)
}

func sendReceipt(_ context.Context, in tidegate.Input[Paid]) (any, error) {
	order := in.Event.Data
	say("send-receipt", "order %s: receipt for %v sent to %s", order.OrderID, order.Total, order.Customer)
	return map[string]string{"sentTo": order.Customer}, nil
}

func rewardBigOrder(_ context.Context, in tidegate.Input[Paid]) (any, error) {
	order := in.Event.Data
	points := int(math.Floor(order.Total / 10))
	say("reward-big-order", "order %s: %d points for %s", order.OrderID, points, order.Customer)
	return map[string]int{"points": points}, nil
}

func syncStock(_ context.Context, in tidegate.Input[Line]) (any, error) {
	line := in.Event.Data
	if in.Attempt == 0 {
		say("flaky-stock-sync", "%s: the warehouse is busy, once more in a second", line.SKU)
		return nil, tidegate.RetryAfter(errors.New("the warehouse is busy"), time.Second)
	}
	say("flaky-stock-sync", "%s: %d in stock, on try %d", line.SKU, line.Quantity, in.Attempt+1)
	return line, nil
}

func logPush(_ context.Context, in tidegate.Input[Push]) (any, error) {
	push := in.Event.Data
	titles := make([]string, len(push.Commits))
	for i, commit := range push.Commits {
		title, _, _ := strings.Cut(commit.Message, "\n")
		titles[i] = commit.ID[:min(7, len(commit.ID))] + " " + title
	}
	if len(titles) == 0 {
		titles = []string{"no commits"}
	}
	say("on-push", "%s: %s", push.Repository.FullName, strings.Join(titles, "; "))
	return map[string]int{"commits": len(push.Commits)}, nil
}

func audit(_ context.Context, in tidegate.Input[json.RawMessage]) (any, error) {
	say("audit", "%s %s in run %s", in.Event.Name, *in.Event.ID, in.RunID)
	return nil, nil
}
