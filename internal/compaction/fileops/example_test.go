package fileops_test

import (
	"fmt"

	"recap/internal/compaction/fileops"
)

func ExampleTree() {
	var ops fileops.Ops
	ops.AddCall("read", []byte(`{"path":"internal/store/row.go:1-80"}`))
	ops.AddCall("edit", []byte(`{"path":"internal/store/row.go"}`))
	ops.AddCall("read", []byte(`{"path":"README.md"}`))
	fmt.Println(fileops.Tree(ops.Lists()))
	// Output:
	// <files>
	// README.md (Read)
	// # internal/store/
	// row.go (RW)
	// </files>
}
