package main

// The data of this shop's events.

type Placed struct {
	OrderID  string `json:"orderId"`
	Customer string `json:"customer"`
	Lines    []Line `json:"lines"`
}

type Line struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity"`
}

type Paid struct {
	OrderID  string  `json:"orderId"`
	Customer string  `json:"customer"`
	Total    float64 `json:"total"`
}

type Push struct {
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
	Commits []struct {
		ID      string `json:"id"`
		Message string `json:"message"`
	} `json:"commits"`
}
