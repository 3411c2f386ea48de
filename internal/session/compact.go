package session

// AppendCompact appends JSON without the white space between its tokens; numbers keep their digits
// and strings their escapes. Of what is no JSON it leaves out what looks like such white space.
func AppendCompact(dst, raw []byte) []byte {
	tokens(raw, func(token []byte) { dst = append(dst, token...) })
	return dst
}

// CompactLen is the length of what AppendCompact appends.
func CompactLen(raw []byte) int {
	n := 0
	tokens(raw, func(token []byte) { n += len(token) })
	return n
}

// tokens calls f for every run of bytes that is free of white space outside strings.
func tokens(raw []byte, f func(token []byte)) {
	from := 0
	for i := 0; i < len(raw); {
		switch raw[i] {
		case ' ', '\t', '\n', '\r':
			f(raw[from:i])
			i = skipSpace(raw, i)
			from = i
		case '"':
			i, _, _ = skipString(raw, i+1)
		default:
			i++
		}
	}
	f(raw[from:])
}
