package conformance

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tidegate/tidegate/clients/go/connect"
)

// talkEntry is what the gateway does, or gets, next.
type talkEntry map[string]any

const connectPatience = 20 * time.Second

// gatewayIncoming is a request, a WebSocket that opens, or a frame.
type gatewayIncoming struct {
	request *received
	reply   chan json.RawMessage
	socket  *playedSocket
	frame   json.RawMessage
}

type playedSocket struct {
	*websocket.Conn
	closed chan websocket.StatusCode
}

// playedGateway is what a case says.
type playedGateway struct {
	places   places
	incoming chan gatewayIncoming
	// sockets are open. The last one is that of the talk.
	sockets []*playedSocket
	opened  chan connectOutcome
	closing chan error
}

type connectOutcome struct {
	connection *connect.Connection
	err        error
}

func playGateway(t *testing.T) *playedGateway {
	language, version, _ := strings.Cut(newPlaces()["sdk"], ":")
	g := &playedGateway{
		places:   places{"sdk": newPlaces()["sdk"], "language": language, "version": version},
		incoming: make(chan gatewayIncoming, 100),
		opened:   make(chan connectOutcome, 1),
		closing:  make(chan error, 1),
	}
	server := httptest.NewServer(g)
	g.places["service"], g.places["gateway"] = server.URL, strings.Replace(server.URL, "http", "ws", 1)
	t.Cleanup(func() {
		for _, socket := range g.sockets {
			_ = socket.CloseNow()
		}
		server.Close()
	})
	return g
}

func (g *playedGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("upgrade") != "" {
		g.serveSocket(w, r)
		return
	}
	body := must(io.ReadAll(r.Body))
	reply := make(chan json.RawMessage, 1)
	g.incoming <- gatewayIncoming{request: &received{r.Method, r.RequestURI, r.Header, body}, reply: reply}
	var answer struct {
		Status int             `json:"status"`
		Body   json.RawMessage `json:"body"`
	}
	select {
	case text := <-reply:
		if string(text) == `"hang up"` {
			panic(http.ErrAbortHandler)
		}
		if err := readStrictly(text, &answer); err != nil {
			panic(err)
		}
	case <-r.Context().Done():
		return
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body)
}

func (g *playedGateway) serveSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"v1.connect.tidegate"}})
	if err != nil {
		return
	}
	socket := &playedSocket{conn, make(chan websocket.StatusCode, 1)}
	g.incoming <- gatewayIncoming{socket: socket}
	for {
		_, text, err := conn.Read(context.Background())
		if err != nil {
			socket.closed <- websocket.CloseStatus(err)
			return
		}
		g.incoming <- gatewayIncoming{frame: text}
	}
}

func (g *playedGateway) play(t *testing.T, talk []talkEntry) {
	t.Helper()
	for _, short := range talk {
		for _, entry := range g.expanded(t, short) {
			g.playEntry(t, entry)
		}
	}
}

func (g *playedGateway) playEntry(t *testing.T, entry talkEntry) {
	t.Helper()
	switch {
	case entry["request"] != nil:
		in := g.next(t, entry)
		if in.request == nil {
			t.Fatalf("expected %v, got %s", entry, in.frame)
		}
		in.request.body = withReadTexts(t, in.request.body)
		var wanted request
		read(t, must(json.Marshal(entry["request"])), &wanted)
		(&playedService{got: []received{*in.request}}).check(t, g.places, []request{wanted})
		in.reply <- g.places.fillJSON(must(json.Marshal(entry["reply"])))
	case entry["opens"] != nil:
		in := g.next(t, entry)
		if in.socket == nil || in.socket.Subprotocol() != entry["opens"] {
			t.Fatalf("expected %v, got %+v", entry, in)
		}
		g.sockets = append(g.sockets, in.socket)
	case entry["gets"] != nil:
		g.checkFrame(t, entry, g.next(t, entry).frame)
	case entry["sends"] != nil:
		text := must(json.Marshal(map[string]any{"kind": entry["sends"], "payload": payloadOf(t, entry)}))
		if err := g.sockets[len(g.sockets)-1].Write(t.Context(), websocket.MessageText, text); err != nil {
			t.Fatal(err)
		}
	case entry["cuts"] != nil:
		_ = g.pop().CloseNow()
	case entry["ends"] != nil:
		_ = g.pop().Close(websocket.StatusCode(entry["ends"].(float64)), entry["reason"].(string))
	case entry["closes"] != nil:
		former := g.sockets[0]
		g.sockets = g.sockets[1:]
		if code := awaited(t, former.closed, "the app closes its WebSocket"); float64(code) != entry["closes"] {
			t.Errorf("it closes with %d", code)
		}
	case reflect.DeepEqual(entry, talkEntry{"app": "close"}):
		outcome := awaited(t, g.opened, "the app is connected")
		if outcome.err != nil {
			t.Fatal(outcome.err)
		}
		go func() { g.closing <- outcome.connection.Close(context.Background()) }()
	default:
		t.Fatalf("not known here: %v", entry)
	}
}

func (g *playedGateway) pop() *playedSocket {
	last := len(g.sockets) - 1
	socket := g.sockets[last]
	g.sockets = g.sockets[:last]
	return socket
}

func (g *playedGateway) next(t *testing.T, entry talkEntry) gatewayIncoming {
	t.Helper()
	return awaited(t, g.incoming, string(must(json.Marshal(entry))))
}

func awaited[T any](t *testing.T, from chan T, what string) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(connectPatience):
		t.Fatalf("it did not come: %s", what)
		panic("unreachable")
	}
}

func (g *playedGateway) checkFrame(t *testing.T, entry talkEntry, text []byte) {
	t.Helper()
	var got struct {
		Kind    string         `json:"kind"`
		Payload map[string]any `json:"payload"`
	}
	read(t, withReadTexts(t, text), &got)
	if got.Kind != entry["gets"] {
		t.Fatalf("expected %v, got %s", entry, text)
	}
	wanted := maps.Clone(entry)
	delete(wanted, "gets")
	if wanted["steps"] != nil {
		got.Payload["steps"] = stepNames(t, got.Payload["body"])
		delete(got.Payload, "body")
	}
	g.places.checkJSON(t, "payload", must(json.Marshal(wanted)), must(json.Marshal(got.Payload)))
}

// expanded has the short forms as long ones.
func (g *playedGateway) expanded(t *testing.T, entry talkEntry) []talkEntry {
	for _, form := range []string{"starts", "connects"} {
		if given, ok := entry[form].(map[string]any); ok {
			return handshake(form, given)
		}
	}
	if entry["calls"] != nil {
		slug := entry["function"]
		if slug == nil {
			slug = "shop-fn"
		}
		id := entry["calls"]
		return []talkEntry{
			{"sends": "gatewayExecutorRequest", "requestId": id, "leaseId": entry["lease"], "functionSlug": slug, "call": entry["call"]},
			{"gets": "workerRequestAck", "requestId": id},
		}
	}
	if entry["replies"] == nil {
		return []talkEntry{entry}
	}
	reply := talkEntry{"gets": "workerReply", "requestId": entry["replies"], "noRetry": false, "sdkVersion": "{{sdk}}"}
	maps.Copy(reply, entry)
	delete(reply, "replies")
	return []talkEntry{reply}
}

func handshake(form string, given map[string]any) []talkEntry {
	started := map[string]any{"connectionId": "01CONNECTION", "gatewayEndpoint": "{{gateway}}", "sessionToken": "once"}
	step := map[string]any{"id": "step", "name": "step", "runtime": map[string]any{"type": "ws"}, "retries": map[string]any{"attempts": 4}}
	function := map[string]any{"id": "shop-fn", "name": "fn", "triggers": []any{map[string]any{"event": "order/paid"}}, "steps": map[string]any{"step": step}}
	ready := talkEntry{"sends": "gatewayConnectionReady", "heartbeatInterval": "10s", "extendLeaseInterval": "5s"}
	maps.Copy(ready, given)
	delete(ready, "headers")
	entries := []talkEntry{
		{
			"request": map[string]any{"method": "POST", "path": "/v0/connect/start", "body": map[string]any{}, "headers": given["headers"]},
			"reply":   map[string]any{"status": 200, "body": started},
		},
		{"opens": "v1.connect.tidegate"},
		{"sends": "gatewayHello"},
		{
			"gets":                     "workerConnect",
			"instanceId":               "{{any}}",
			"apps":                     []any{map[string]any{"appName": "shop", "functions": []any{function}}},
			"framework":                "connect",
			"sdkLanguage":              "{{language}}",
			"sdkVersion":               "{{version}}",
			"connectionId":             "01CONNECTION",
			"authData":                 map[string]any{"sessionToken": "once", "syncToken": "once"},
			"workerManualReadinessAck": true,
		},
	}
	if form == "starts" {
		return entries
	}
	return append(entries, ready)
}

func payloadOf(t *testing.T, entry talkEntry) map[string]any {
	payload := maps.Clone(entry)
	delete(payload, "sends")
	if entry["call"] != nil {
		var call replayCall
		read(t, must(json.Marshal(entry["call"])), &call)
		delete(payload, "call")
		payload["stepId"], payload["requestPayload"] = call.stepID(), string(call.body(t))
	}
	return payload
}

// withReadTexts has the JSON of fields that are JSON in a text.
func withReadTexts(t *testing.T, text []byte) []byte {
	var value any
	read(t, text, &value)
	return must(json.Marshal(readTexts(t, value)))
}

func readTexts(t *testing.T, value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = readTexts(t, value[i])
		}
	case map[string]any:
		for name, field := range value {
			text, isText := field.(string)
			if isText && slices.Contains([]string{"functions", "body", "requestPayload"}, name) {
				var inner any
				read(t, []byte(text), &inner)
				value[name] = inner
			} else {
				value[name] = readTexts(t, field)
			}
		}
	}
	return value
}

// stepNames are of the operations of a reply or a checkpoint.
func stepNames(t *testing.T, body any) (names []string) {
	var steps []struct {
		DisplayName string `json:"displayName"`
	}
	text := must(json.Marshal(body))
	if json.Unmarshal(text, &steps) != nil {
		var checkpoint struct {
			RunID string `json:"run_id"`
			FnID  string `json:"fn_id"`
			QiID  string `json:"qi_id"`
			Steps any    `json:"steps"`
		}
		read(t, text, &checkpoint)
		if checkpoint.FnID != "01FUNCTION" || checkpoint.QiID != "01EXECUTION" {
			t.Errorf("got the checkpoint %s", text)
		}
		return stepNames(t, checkpoint.Steps)
	}
	for _, step := range steps {
		names = append(names, step.DisplayName)
	}
	return names
}
