// Package connect hosts functions over a connection that the app opens: it needs no address (docs/connect.md). To host
// them at a URL, see tidegate.Serve, which takes the same functions.
//
//	connection, err := connect.Open(ctx, client, connect.Opts{}, thank)
//	…
//	<-stop.Done()
//	err = connection.Close(context.Background()) // finishes its calls
package connect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

const framework = "connect"

// Opts say who connects.
type Opts struct {
	// MaxConcurrency is the maximum number of concurrent calls. Default: the service's CONNECTION_CALLS_MAX.
	MaxConcurrency int
	// InstanceID is the name of this process, unique in the app. Default: <host name>-<process ID>.
	InstanceID string
	// AppVersion is the version or build of the app. Default: the client's.
	AppVersion string
	// OnState is called at each change, one after the other. It must not close the connection.
	OnState func(State)
}

// Open connects the app, which stays connected until Close, and returns once it can get calls. The context only bounds Open;
// its values are passed on to the functions.
// It fails with an *Error if the service rejects the app at the start, with a *tidegate.ConfigError, with the context's error,
// or when the functions do not fit together.
func Open(ctx context.Context, client *tidegate.Client, options Opts, functions ...tidegate.ServableFunction) (*Connection, error) {
	if options.MaxConcurrency < 0 {
		return nil, fmt.Errorf("connect: MaxConcurrency must be a number from 1, got %d", options.MaxConcurrency)
	}
	app, err := client.AppForConnect(functions)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	if options.InstanceID == "" {
		options.InstanceID = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if options.AppVersion == "" {
		options.AppVersion = app.Version
	}
	if options.OnState == nil {
		options.OnState = func(State) {}
	}
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	c := &Connection{
		app:        app,
		calls:      newCalls(lasting, app),
		instance:   instanceOf(app.ID, app.SDK, app.Functions, options),
		onState:    options.OnState,
		ctx:        lasting,
		end:        end,
		connecting: true,
	}
	c.become(Connecting)
	c.tell()
	if err := c.connect(ctx); err != nil {
		end()
		c.background.Wait()
		return nil, err
	}
	return c, nil
}

// instanceOf is the part of the first message that says who connects.
func instanceOf(app, sdk string, functions json.RawMessage, options Opts) map[string]any {
	language, version, _ := strings.Cut(sdk, ":")
	configuration := map[string]any{"appName": app, "functions": string(functions)}
	if options.AppVersion != "" {
		configuration["appVersion"] = options.AppVersion
	}
	instance := map[string]any{
		"instanceId":  options.InstanceID,
		"apps":        []any{configuration},
		"framework":   framework,
		"sdkLanguage": language,
		"sdkVersion":  version,
	}
	if options.MaxConcurrency > 0 {
		instance["maxWorkerConcurrency"] = options.MaxConcurrency
	}
	return instance
}
