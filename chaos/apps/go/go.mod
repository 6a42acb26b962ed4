module github.com/tidegate/tidegate/chaos/apps/go

go 1.25

require github.com/tidegate/tidegate/clients/go v0.1.0

replace github.com/tidegate/tidegate/clients/go => ../../../clients/go
