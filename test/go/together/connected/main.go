// Connected is the Go part of test/languages/connections.test.ts.
//
// It connects to the service (SERVICE_DEV), prints its states, and ends when its stdin does. Its function runs three steps, each
// of which is a request to STEPS_URL: the test sees it begin, and lets it end.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/connect"
	"github.com/tidegate/tidegate/clients/go/step"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "connected-go"})
	if err != nil {
		return err
	}
	options := tidegate.FunctionOpts{ID: "fn", Retries: tidegate.Ptr(0)}
	fn, err := tidegate.CreateFunction(client, options, tidegate.EventTrigger("connected/go"), threeSteps)
	if err != nil {
		return err
	}
	fmt.Println(`{"url": ""}`)
	onState := func(state connect.State) { fmt.Println(state) }
	connection, err := connect.Open(ctx, client, connect.Opts{OnState: onState}, fn)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return connection.Close(ctx)
}

func threeSteps(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
	results := []string{}
	for _, name := range []string{"a", "b", "c"} {
		result, err := step.Run(ctx, name, func(context.Context) (string, error) { return ask(name) })
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

func ask(name string) (string, error) {
	response, err := http.Get(os.Getenv("STEPS_URL") + name)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
