package tokens_test

import (
	"fmt"

	"recap/internal/tokens"
)

func ExampleResolve() {
	for _, setting := range []string{"auto", "85%", "170_000", "reserve"} {
		r := tokens.Resolve(tokens.ParseThreshold(setting), 200_000, nil)
		fmt.Println(setting, "→", r.Tokens)
	}
	// Output:
	// auto → 170000
	// 85% → 170000
	// 170_000 → 170000
	// reserve → 183616
}
