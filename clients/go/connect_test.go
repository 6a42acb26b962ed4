package tidegate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/connect"
)

// open connects the functions. The states are complete once it is closed.
func (s realService) open(t *testing.T, functions ...tidegate.ServableFunction) (*connect.Connection, *[]connect.State) {
	t.Helper()
	states := &[]connect.State{}
	onState := func(state connect.State) { *states = append(*states, state) }
	connection, err := connect.Open(t.Context(), s.client, connect.Opts{OnState: onState}, functions...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return connection, states
}

func TestFunctionsRunOverAConnection(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		var calls [2]atomic.Int32
		steps := s.create(t, tidegate.FunctionOpts{ID: "steps"}, threeSteps(&calls[0]))
		apart := s.create(t, tidegate.FunctionOpts{ID: "apart", Checkpoint: &tidegate.Checkpoint{Off: true}}, threeSteps(&calls[1]))
		fails := s.create(t, tidegate.FunctionOpts{ID: "fails"}, func(context.Context, anyInput) (any, error) {
			return nil, tidegate.NonRetriable(errors.New("never"))
		})
		connection, states := s.open(t, steps, apart, fails)
		var all sync.WaitGroup
		for _, id := range []string{"steps", "apart"} {
			all.Go(func() {
				if got := s.run(t, id, nil); string(got.Output) != `["a","b","c"]` {
					t.Errorf("%s: got %+v", id, got)
				}
			})
		}
		if got := s.run(t, "fails", nil); got.Status != "Failed" || got.Error.Message != "never" {
			t.Errorf("got %+v", got)
		}
		all.Wait()
		if got := fmt.Sprint(calls[0].Load(), " ", calls[1].Load()); got != "1 4" {
			t.Errorf("got %s calls", got)
		}
		if err := connection.Close(t.Context()); err != nil || connection.State() != connect.Closed {
			t.Errorf("got %v, %s", err, connection.State())
		}
		expected := []connect.State{connect.Connecting, connect.Ready, connect.Closing, connect.Closed}
		if !slices.Equal(*states, expected) {
			t.Errorf("got the states %v", *states)
		}
	})
}

func TestAConnectionThatMayWaitNoLongerEndsItsCalls(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		began, ended := make(chan struct{}), make(chan error, 1)
		waits := s.create(t, tidegate.FunctionOpts{ID: "waits", Retries: tidegate.Ptr(0)}, func(ctx context.Context, _ anyInput) (any, error) {
			close(began)
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		})
		connection, _ := s.open(t, waits)
		if _, err := s.client.Send(t.Context(), tidegate.Event{Name: s.named("waits")}); err != nil {
			t.Fatal(err)
		}
		<-began
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := connection.Close(over); !errors.Is(err, context.Canceled) || connection.State() != connect.Closed {
			t.Errorf("got %v, %s", err, connection.State())
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the function ends with %v", err)
		}
	})
}

func TestOpeningAConnectionEndsWithItsContext(t *testing.T) {
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), BaseURL: "http://127.0.0.1:1"})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := connect.Open(ctx, client, connect.Opts{OnState: func(connect.State) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAConnectionRefusesFunctionsThatDoNotFitTogether(t *testing.T) {
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true)})
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), threeSteps(new(atomic.Int32)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := connect.Open(t.Context(), client, connect.Opts{}, fn, fn); err == nil || !strings.Contains(err.Error(), `two functions of the app have the ID "fn"`) {
		t.Errorf("got %v", err)
	}
}
