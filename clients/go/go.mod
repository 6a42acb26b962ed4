module github.com/tidegate/tidegate/clients/go

go 1.25

require github.com/coder/websocket v1.8.15
