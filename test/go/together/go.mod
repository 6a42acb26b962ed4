module github.com/tidegate/tidegate/test/go/together

go 1.25

require github.com/tidegate/tidegate/clients/go v0.0.0

replace github.com/tidegate/tidegate/clients/go => ../../../clients/go
