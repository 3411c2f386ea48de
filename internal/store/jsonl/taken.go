package jsonl

import "bytes"

// takenBlock is how much is searched at a time.
const takenBlock = 1 << 20

// Taken implements store.Snapshot. What was not read is searched for the id in quotes, which costs
// far less than parsing it.
func (s *snapshot) Taken(id string) (bool, error) {
	if s.log.Find(id) != nil {
		return true, nil
	}
	if !s.log.Partial {
		return false, nil
	}
	want := []byte(`"` + id + `"`)
	buf := make([]byte, takenBlock)
	for at := int64(0); at < s.state.size; at += int64(len(buf) - len(want) + 1) { // blocks overlap by one id
		block := buf[:min(int64(len(buf)), s.state.size-at)]
		if err := readFull(s.file, block, at); err != nil {
			return false, readError(s.id, err)
		}
		if bytes.Contains(block, want) {
			return true, nil
		}
	}
	return false, nil
}
