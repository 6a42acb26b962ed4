// Versions is the Go part of test/languages/versions.test.ts: an app of one version (TEST_VERSION), which pins its runs.
//
// It takes the service's address as the client does (SERVICE_DEV), and ends when its stdin does. Its functions put out which version
// ran their first and their last step: waits, on versions-go/start, for versions-go/go; naps, on versions-go/nap.
package main

import (
	"context"
	"log"
	"os"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/test/go/together/host"
)

var version = os.Getenv("TEST_VERSION")

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	client, err := tidegate.NewClient(tidegate.ClientOpts{
		AppID:      "versions-go",
		AppVersion: version,
		Versioning: tidegate.Pinned,
	})
	if err != nil {
		return err
	}
	waits, err := create(client, "waits", "start", func(ctx context.Context) error {
		options := step.WaitForEventOpts{Event: "versions-go/go", Timeout: time.Hour}
		_, err := step.WaitForEvent[any](ctx, "go", options)
		return err
	})
	if err != nil {
		return err
	}
	naps, err := create(client, "naps", "nap", func(ctx context.Context) error {
		return step.Sleep(ctx, "nap", 30*time.Minute)
	})
	if err != nil {
		return err
	}
	handler, err := tidegate.Serve(client, tidegate.ServeOpts{Path: host.Path}, waits, naps)
	if err != nil {
		return err
	}
	return host.UntilStdinEnds(handler)
}

// create makes a function that does something between its two steps.
func create(client *tidegate.Client, id, event string, between func(context.Context) error) (tidegate.ServableFunction, error) {
	trigger := tidegate.EventTrigger("versions-go/" + event)
	return tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: id}, trigger,
		func(ctx context.Context, _ tidegate.Input[any]) (any, error) {
			first, err := tell(ctx, "first")
			if err != nil {
				return nil, err
			}
			if err := between(ctx); err != nil {
				return nil, err
			}
			last, err := tell(ctx, "last")
			return map[string]string{"first": first, "last": last}, err
		})
}

func tell(ctx context.Context, id string) (string, error) {
	return step.Run(ctx, id, func(context.Context) (string, error) { return version, nil })
}
