// Package tidegate sends events to Tidegate, and hosts the functions that run on them.
//
//	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop"})
//	id, err := client.Send(ctx, tidegate.Event{Name: "order/paid", Data: map[string]any{"total": 120}})
//
// A function is a handler that the service calls over HTTP; its steps, in the package step, are what its run remembers:
//
//	thank, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "thank"}, tidegate.EventTrigger("order/paid"),
//		func(ctx context.Context, in tidegate.Input[OrderPaid]) (any, error) {
//			return step.Run(ctx, "send receipt", func(ctx context.Context) (string, error) {
//				return sendMail(ctx, in.Event.Data.OrderID)
//			})
//		})
//	handler, err := tidegate.Serve(client, tidegate.ServeOpts{Path: "/api/service"}, thank)
//	err = http.ListenAndServe(":3000", handler)
//
// Middleware stands around runs, steps and sends; the package encryption has a middleware that encrypts. The package tidegatetest
// runs functions without a service, and lambda hosts them in AWS Lambda.
//
// Nothing is read or connected before it is needed, and no state is global.
package tidegate
