package tidegate

// Invocable is a function that step.Invoke can run: a ServableFunction of this app, or a FunctionReference.
type Invocable interface {
	AppID() string
	ID() string
}

// FunctionReference names a function of any app, with the type of its event's data and of its output.
type FunctionReference[Data, Output any] struct{ appID, id string }

// ReferenceFunction refers to a function whose code is elsewhere, such as in another app, for step.InvokeReference or
// step.Invoke:
//
//	var charge = tidegate.ReferenceFunction[Charge, Receipt]("billing", "charge")
//
//	receipt, err := step.InvokeReference(ctx, "charge", charge, Charge{OrderID: "7"})
func ReferenceFunction[Data, Output any](appID, functionID string) FunctionReference[Data, Output] {
	return FunctionReference[Data, Output]{appID, functionID}
}

// AppID is the app that hosts the function.
func (r FunctionReference[Data, Output]) AppID() string { return r.appID }

// ID is the function's own in that app.
func (r FunctionReference[Data, Output]) ID() string { return r.id }
