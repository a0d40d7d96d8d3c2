module github.com/libimpi/libimpi

go 1.26.0

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794
	github.com/google/go-cmp v0.7.0
	github.com/mattn/go-pointer v0.0.1
	go.starlark.net v0.0.0-20260908191801-89a6a09411d5
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da
	golang.org/x/sys v0.49.0
)
