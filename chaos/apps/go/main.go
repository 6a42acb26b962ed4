// The app in Go: app.ts with fewer functions.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/connect"
	"github.com/tidegate/tidegate/clients/go/step"
)

const (
	path    = "/api/service"
	retries = 10
)

func main() {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "chaos-go"})
	if err != nil {
		log.Fatal(err)
	}
	connected, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "chaos-go-connected"})
	if err != nil {
		log.Fatal(err)
	}
	flakyFn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "flaky", Retries: tidegate.Ptr(retries)}, tidegate.EventTrigger("chaos/flaky"), flaky)
	if err != nil {
		log.Fatal(err)
	}
	handler, err := tidegate.Serve(client, tidegate.ServeOpts{Path: path}, append(bothOf(client, ""), flakyFn)...)
	if err != nil {
		log.Fatal(err)
	}
	connection, err := connect.Open(context.Background(), connected, connect.Opts{}, bothOf(connected, "connected-")...)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("{\"url\": \"http://%s%s\"}\n", listener.Addr(), path)
	go func() { log.Fatal(http.Serve(listener, handler)) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := connection.Close(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// bothOf an app that serves, or of one that connects.
func bothOf(app *tidegate.Client, prefix string) []tidegate.ServableFunction {
	define := func(id string, handler tidegate.Handler[map[string]any]) tidegate.ServableFunction {
		fn, err := tidegate.CreateFunction(app, tidegate.FunctionOpts{ID: id, Retries: tidegate.Ptr(retries)}, tidegate.EventTrigger("chaos/"+id), handler)
		if err != nil {
			log.Fatal(err)
		}
		return fn
	}
	return []tidegate.ServableFunction{
		define("steps", func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
			return steps(ctx, in, prefix+"steps")
		}),
		define("chain", func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
			return chain(ctx, in, prefix+"chain")
		}),
	}
}

func report(in tidegate.Input[map[string]any], function, name string, finished []string) error {
	sentIDs := make([]any, 0, len(in.Events))
	for _, event := range in.Events {
		sentIDs = append(sentIDs, event.Data["id"])
	}
	body, err := json.Marshal(map[string]any{
		"phase": "start", "id": rand.Text(), "app": "go", "functionId": "chaos-go-" + function, "runId": in.RunID,
		"step": name, "finished": finished, "atMs": float64(time.Now().UnixMicro()) / 1000, "sentIds": sentIDs,
	})
	if err != nil {
		return err
	}
	answer, err := http.Post(os.Getenv("EXECUTIONS_URL"), "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func telling(ctx context.Context, in tidegate.Input[map[string]any], function, name string, finished ...string) error {
	_, err := step.Run(ctx, name, func(context.Context) (any, error) {
		return nil, report(in, function, name, finished)
	})
	return err
}

func steps(ctx context.Context, in tidegate.Input[map[string]any], function string) (any, error) {
	if err := telling(ctx, in, function, "a"); err != nil {
		return nil, err
	}
	if err := step.Sleep(ctx, "nap", 300*time.Millisecond); err != nil {
		return nil, err
	}
	return nil, telling(ctx, in, function, "b", "a")
}

func flaky(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
	if err := telling(ctx, in, "flaky", "a"); err != nil {
		return nil, err
	}
	if in.Attempt == 0 {
		return nil, errors.New("the first attempt fails")
	}
	return nil, telling(ctx, in, "flaky", "b", "a")
}

func chain(ctx context.Context, in tidegate.Input[map[string]any], function string) (any, error) {
	if err := telling(ctx, in, function, "a"); err != nil {
		return nil, err
	}
	if err := telling(ctx, in, function, "b", "a"); err != nil {
		return nil, err
	}
	return nil, telling(ctx, in, function, "c", "a", "b")
}
