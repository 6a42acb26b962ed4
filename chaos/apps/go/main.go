// The app in Go: app.ts with fewer functions.
package main

import (
	"bytes"
	"context"
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
	"github.com/tidegate/tidegate/clients/go/step"
)

const path = "/api/service"

func main() {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "chaos-go"})
	if err != nil {
		log.Fatal(err)
	}
	stepsFn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "steps"}, tidegate.EventTrigger("chaos/steps"), steps)
	if err != nil {
		log.Fatal(err)
	}
	flakyFn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "flaky"}, tidegate.EventTrigger("chaos/flaky"), flaky)
	if err != nil {
		log.Fatal(err)
	}
	handler, err := tidegate.Serve(client, tidegate.ServeOpts{Path: path}, stepsFn, flakyFn)
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
}

func report(runID, name string, finished ...string) error {
	body, err := json.Marshal(map[string]any{"app": "go", "runId": runID, "step": name, "finished": finished})
	if err != nil {
		return err
	}
	answer, err := http.Post(os.Getenv("EXECUTIONS_URL"), "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func telling(ctx context.Context, runID, name string, finished ...string) error {
	_, err := step.Run(ctx, name, func(context.Context) (any, error) {
		return nil, report(runID, name, finished...)
	})
	return err
}

func steps(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
	if err := telling(ctx, in.RunID, "a"); err != nil {
		return nil, err
	}
	if err := step.Sleep(ctx, "nap", 300*time.Millisecond); err != nil {
		return nil, err
	}
	return nil, telling(ctx, in.RunID, "b", "a")
}

func flaky(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
	if err := telling(ctx, in.RunID, "a"); err != nil {
		return nil, err
	}
	if in.Attempt == 0 {
		return nil, errors.New("the first attempt fails")
	}
	return nil, telling(ctx, in.RunID, "b", "a")
}
