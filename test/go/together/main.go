// Together hosts the Go part of test/languages/together.test.ts.
//
// It takes the service's address as the client does (SERVICE_DEV), and ends when its stdin does. Its function:
//
//	together-go-hears, on the event together/listen {n}: waits for the event together/told of the same n, and puts out
//	{"heard": …} what that says in its data's "doubled".
package main

import (
	"context"
	"log"
	"net/http"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/test/go/together/host"
)

type question struct {
	N int `json:"n"`
}

type answer struct {
	N       int `json:"n"`
	Doubled int `json:"doubled"`
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	handler, err := newApp()
	if err != nil {
		return err
	}
	return host.UntilStdinEnds(handler)
}

func newApp() (http.Handler, error) {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "together-go"})
	if err != nil {
		return nil, err
	}
	hears, err := tidegate.CreateFunction(
		client,
		tidegate.FunctionOpts{ID: "hears"},
		tidegate.EventTrigger("together/listen"),
		func(ctx context.Context, in tidegate.Input[question]) (any, error) {
			told, err := step.WaitForEvent[answer](ctx, "told", step.WaitForEventOpts{
				Event:   "together/told",
				Timeout: time.Minute,
				If:      "event.data.n == async.data.n",
			})
			if err != nil {
				return nil, err
			}
			return map[string]int{"heard": told.Data.Doubled}, nil
		},
	)
	if err != nil {
		return nil, err
	}
	return tidegate.Serve(client, tidegate.ServeOpts{Path: host.Path}, hears)
}
