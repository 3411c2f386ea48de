package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"recap/internal/eval/control"
	"recap/internal/session"
)

// Sameness says whether identical input gave identical bytes (M11): plan, requests, verdict, summary
// and entry, of one run after the other and with one and several goroutines.
type Sameness struct {
	Runs      int `json:"runs"`
	Identical int `json:"identical"`
	// Digest is over everything that was made, for comparing two machines.
	Digest string `json:"digest"`
}

// sameTokens is the size of the tail in these runs.
const sameTokens = 3000

func (e *engine) measureSameness(r *Report) error {
	all := sha256.New()
	for _, s := range e.sessions {
		data := s.Data(1)
		want, err := e.digest(s.Name, data, 1)
		if err != nil {
			return err
		}
		all.Write([]byte(want))
		for _, parallel := range []int{1, 4} {
			got, err := e.digest(s.Name, data, parallel)
			if err != nil {
				return err
			}
			r.Sameness.Runs++
			if got == want {
				r.Sameness.Identical++
			}
		}
	}
	r.Sameness.Digest = hex.EncodeToString(all.Sum(nil))[:16]
	return nil
}

// digest is over everything one compaction by the extractive summariser makes.
func (e *engine) digest(name string, data []byte, parallel int) (string, error) {
	f, err := session.Parse(data)
	if err != nil {
		return "", err
	}
	in := e.input(f, "eval-same", sameTokens)
	in.Parallel = parallel
	prepared, err := e.prepare(in)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	if err := enc.Encode(prepared.Plan); err != nil {
		return "", err
	}
	by := control.Extractive()
	for _, req := range prepared.Requests() {
		sum.Write([]byte(req.UserText()))
		result := e.judge(gateInput(&prepared.Plan, req, by.Summarise(nil, req, maxOutput), true))
		if err := enc.Encode(result); err != nil {
			return "", err
		}
		sum.Write([]byte(result.Text))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
