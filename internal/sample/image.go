package sample

import (
	"encoding/base64"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"math/rand/v2"
)

// png returns a grey-scale picture as base64. Its pixel data is stored, not compressed, so that the
// bytes do not depend on a compressor's version.
func png(r *rand.Rand, width, height int) string {
	raw := make([]byte, 0, (width+1)*height)
	for range height {
		raw = append(raw, 0) // filter: none
		shade := byte(r.IntN(200))
		for x := range width {
			raw = append(raw, shade+byte(x))
		}
	}
	z := []byte{0x78, 0x01}
	for rest := raw; ; {
		n := min(len(rest), 0xffff)
		last := byte(0)
		if n == len(rest) {
			last = 1
		}
		z = append(z, last, byte(n), byte(n>>8), ^byte(n), ^byte(n>>8))
		z = append(z, rest[:n]...)
		if rest = rest[n:]; last == 1 {
			break
		}
	}
	z = binary.BigEndian.AppendUint32(z, adler32.Checksum(raw))

	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = binary.BigEndian.AppendUint32(head, uint32(height))
	head = append(head, 8, 0, 0, 0, 0)
	out := []byte("\x89PNG\r\n\x1a\n")
	for _, c := range []struct {
		kind string
		data []byte
	}{{"IHDR", head}, {"IDAT", z}, {"IEND", nil}} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(c.data)))
		body := append([]byte(c.kind), c.data...)
		out = append(out, body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	}
	return base64.StdEncoding.EncodeToString(out)
}
