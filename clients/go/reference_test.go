package tidegate_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/clients/go/tidegatetest"
)

func TestAFunctionOfAnotherAppIsInvokedByAReference(t *testing.T) {
	type charge struct {
		Total int `json:"total"`
	}
	charges := tidegate.ReferenceFunction[charge, string]("billing", "charge")
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true)})
	fn := newFunction(t, client, "fn", func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		receipt, err := step.InvokeReference(ctx, "pay", charges, charge{Total: 3})
		return receipt, err
	})

	a := wire(t, fn, client, callBody)
	expected := `"opts":{"function_id":"billing-charge","payload":{"data":{"total":3}}}`
	if a.Status != 206 || !strings.Contains(string(a.Body), expected) {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	result := tidegatetest.Run(t, fn, tidegatetest.Opts{Steps: map[string]any{"pay": "R-7"}})
	if string(result.Output) != `"R-7"` {
		t.Errorf("got %s %v", result.Output, result.Err)
	}
}

func TestDescriptionAndGroupAreRegistered(t *testing.T) {
	var registered struct {
		Functions []map[string]any `json:"functions"`
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&registered); err != nil {
			t.Error(err)
		}
		io.WriteString(w, "{}")
	}))
	defer service.Close()
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), BaseURL: service.URL})
	on := tidegate.EventTrigger("order/paid")
	told, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "told", Description: "Thanks people", Group: "mail"}, on, echo)
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(t, client, tidegate.ServeOpts{Origin: "http://127.0.0.1:3000"}, told, newFunction(t, client, "untold", echo))
	if a := app.Answer(t.Context(), tidegate.AppRequest{Method: "PUT", URL: "/"}); a.Status != 200 {
		t.Fatalf("got %d %s", a.Status, a.Body)
	}
	first, second := registered.Functions[0], registered.Functions[1]
	if first["description"] != "Thanks people" || first["group"] != "mail" {
		t.Errorf("got %v", first)
	}
	if _, there := second["description"]; there || second["group"] != nil {
		t.Errorf("got %v", second)
	}
}
