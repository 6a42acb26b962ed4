module github.com/tidegate/tidegate/test/go/together

go 1.25

require github.com/tidegate/tidegate/clients/go v0.0.0

require github.com/coder/websocket v1.8.15 // indirect

replace github.com/tidegate/tidegate/clients/go => ../../../clients/go
