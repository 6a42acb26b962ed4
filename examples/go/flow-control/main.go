package main

import (
	"context"
	"log"
	"net/http"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

type Data struct {
	Customer string `json:"customer"`
	Button   string `json:"button"`
	OrderID  string `json:"orderId"`
	Price    int    `json:"price"`
	URL      string `json:"url"`
}

const customer = "event.data.customer"

type App struct {
	client    *tidegate.Client
	functions []tidegate.ServableFunction
}

func (a *App) create(id string, on tidegate.Trigger, flow tidegate.FlowControl, handler tidegate.Handler[Data]) {
	f, err := tidegate.CreateFunction(a.client, tidegate.FunctionOpts{ID: id, FlowControl: flow}, on, handler)
	if err != nil {
		log.Fatal(err)
	}
	a.functions = append(a.functions, f)
}

// limitConcurrency limits what happens at the same time. More of it waits.
func (a *App) limitConcurrency() {
	// Two steps at a time.
	a.create("resize-image", tidegate.EventTrigger("image/uploaded"), tidegate.FlowControl{
		Concurrency: []tidegate.Concurrency{{Limit: 2}},
	}, fetch)
	// One step per customer, and ten steps of all functions that use the CRM.
	a.create("sync-customer", tidegate.EventTrigger("customer/changed"), tidegate.FlowControl{
		Concurrency: []tidegate.Concurrency{
			{Limit: 1, Key: customer},
			{Limit: 10, Key: `"crm"`, Scope: tidegate.ScopeAccount},
		},
	}, say("synced"))
	// One run per customer from start to end, and five steps of all customers.
	a.create("import-orders", tidegate.EventTrigger("orders/exported"), tidegate.FlowControl{
		RunConcurrency: []tidegate.Concurrency{{Limit: 1, Key: customer}},
		Concurrency:    []tidegate.Concurrency{{Limit: 5}},
	}, say("imported"))
	// One report per customer at a time. More events start no run.
	a.create("build-report", tidegate.EventTrigger("report/asked"), tidegate.FlowControl{
		Singleton: &tidegate.Singleton{Mode: tidegate.SingletonSkip, Key: customer},
	}, fetch)
}

// limitStarts limits how often runs start.
func (a *App) limitStarts() {
	// 60 starts a minute per customer, and five more at once. More runs wait.
	a.create("call-partner", tidegate.EventTrigger("parcel/packed"), tidegate.FlowControl{
		Throttle: &tidegate.Throttle{Limit: 60, Period: time.Minute, Burst: 5, Key: customer},
	}, say("called"))
	// One mail an hour per customer. More events start no run.
	a.create("warn-customer", tidegate.EventTrigger("stock/low"), tidegate.FlowControl{
		RateLimit: &tidegate.RateLimit{Limit: 1, Period: time.Hour, Key: customer},
	}, func(_ context.Context, in tidegate.Input[Data]) (any, error) {
		return map[string]string{"warned": in.Event.Data.Customer}, nil
	})
	// Once a product has not changed for 2 s, or has changed for 10 s: its latest change.
	a.create("index-product", tidegate.EventTrigger("product/changed"), tidegate.FlowControl{
		Debounce: &tidegate.Debounce{Period: 2 * time.Second, Timeout: 10 * time.Second, Key: "event.data.sku"},
	}, func(_ context.Context, in tidegate.Input[Data]) (any, error) {
		return map[string]int{"price": in.Event.Data.Price}, nil
	})
	// Three clicks of a page in one run, or as many as come in 5 s. A purchase is stored alone.
	a.create("store-clicks", tidegate.EventTrigger("page/clicked"), tidegate.FlowControl{
		BatchEvents: &tidegate.BatchEvents{
			MaxSize: 3,
			Timeout: 5 * time.Second,
			Key:     "event.data.page",
			If:      `event.data.button != "buy"`,
		},
	}, func(_ context.Context, in tidegate.Input[Data]) (any, error) {
		var buttons []string
		for _, event := range in.Events {
			buttons = append(buttons, event.Data.Button)
		}
		return map[string][]string{"stored": buttons}, nil
	})
	// Once per order in 24 hours, however many events tell of it.
	a.create("charge-order", tidegate.EventTrigger("order/confirmed"), tidegate.FlowControl{
		Idempotency: "event.data.orderId",
	}, func(_ context.Context, in tidegate.Input[Data]) (any, error) {
		return map[string]string{"charged": in.Event.Data.OrderID}, nil
	})
}

// orderAndEnd decides which run is next, and when one is not wanted any more.
func (a *App) orderAndEnd() {
	// Customers who pay go before all questions of the last two minutes.
	a.create("answer-question", tidegate.EventTrigger("question/asked"), tidegate.FlowControl{
		Priority: &tidegate.Priority{Run: `event.data.plan == "pro" ? 120 : 0`},
	}, say("answered"))
	// Cancelled if it does not start in ten minutes, or does not end in an hour.
	a.create("reserve-stock", tidegate.EventTrigger("order/placed"), tidegate.FlowControl{
		Timeouts: &tidegate.Timeouts{Start: 10 * time.Minute, Finish: time.Hour},
	}, say("reserved"))
	// Cancelled by the payment.
	a.create("remind-customer", tidegate.EventTrigger("order/placed"), tidegate.FlowControl{
		CancelOn: []tidegate.CancelOn{
			{Event: "order/paid", If: "event.data.orderId == async.data.orderId", Timeout: 7 * 24 * time.Hour},
		},
	}, func(ctx context.Context, _ tidegate.Input[Data]) (any, error) {
		return "reminded", step.Sleep(ctx, "wait for the payment", 3*24*time.Hour)
	})
	// On weekdays at nine in Berlin, or up to five minutes later.
	weekdays := tidegate.CronTrigger("TZ=Europe/Berlin 0 9 * * mon-fri", tidegate.Jitter(5*time.Minute))
	a.create("mail-report", weekdays, tidegate.FlowControl{}, say("mailed"))
}

func say(word string) tidegate.Handler[Data] {
	return func(context.Context, tidegate.Input[Data]) (any, error) { return word, nil }
}

func fetch(ctx context.Context, in tidegate.Input[Data]) (any, error) {
	return step.Run(ctx, "fetch", func(context.Context) (int, error) {
		response, err := http.Get(in.Event.Data.URL)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	})
}

func main() {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	app := &App{client: client}
	app.limitConcurrency()
	app.limitStarts()
	app.orderAndEnd()
	handler, err := tidegate.Serve(client, tidegate.ServeOpts{Path: "/api/service"}, app.functions...)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:3000", handler))
}
