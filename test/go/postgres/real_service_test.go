package postgres_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/postgres"
)

// network loses the responses to requests with events, if it is told to, and counts them.
type network struct {
	loses bool
	sends atomic.Int64
	// responded is signaled when the service has responded to one of them.
	responded chan struct{}
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if !strings.HasPrefix(r.URL.Path, "/e/") {
		return response, err
	}
	n.sends.Add(1)
	n.responded <- struct{}{}
	if n.loses && err == nil {
		_ = response.Body.Close()
		return nil, errors.New("the response is lost")
	}
	return response, err
}

func TestTheRealServiceTellsARelayWhatItHas(t *testing.T) {
	d := newDatabase(t)
	url := os.Getenv("TEST_DEV_SERVICE")
	if url == "" {
		t.Skip("TEST_DEV_SERVICE is not set: it is the address of a service in dev mode")
	}
	relayVia := func(n *network) *postgres.Relay {
		n.responded = make(chan struct{}, 100)
		client := newClient(t, tidegate.ClientOpts{BaseURL: url, HTTPClient: &http.Client{Transport: n}})
		return postgres.NewRelayPgx(client, d.pool, postgres.RelayOpts{})
	}
	name := "outbox/" + strings.ToLower(rand.Text())
	d.write(t, newClient(t, tidegate.ClientOpts{}), tidegate.Event{Name: name}, tidegate.Event{Name: name})

	bad := &network{loses: true}
	first := relayVia(bad)
	go first.Run(context.Background())
	<-bad.responded
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.sentLongAgo(t, 25)

	good := &network{}
	running(t, relayVia(good))
	d.until(t, waiting, "0")
	expect(t, "sends after the look-up", good.sends.Load(), 0)

	d.write(t, newClient(t, tidegate.ClientOpts{}), tidegate.Event{Name: name})
	d.until(t, waiting, "0")
	var events struct{ Data []any }
	for deadline := time.Now().Add(time.Minute); len(events.Data) < 3 && time.Now().Before(deadline); {
		response := must(http.Get(url + "/v1/events?name=" + name))
		if err := json.NewDecoder(response.Body).Decode(&events); err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	expect(t, "events", len(events.Data), 3)
}
