package anchor

import "strings"

// Classify tells the shape of a run.
func Classify(run string) Kind {
	switch {
	case len(run) > 400 || strings.HasPrefix(run, "redacted:"): // a mask is no anchor
		return None
	case strings.Contains(run, "://"):
		if i := strings.Index(run, "://"); i > 1 && len(run) > i+5 {
			return URL
		}
		return None
	case isNumber(run):
		return Number
	case isHex(run):
		return ID
	case isTicket(run):
		return Ticket
	case isError(run):
		return Error
	case strings.ContainsAny(run, `/\`):
		if isPath(run) {
			return Path
		}
	case !strings.Contains(run, "@") && extension(withoutLine(run)) != "" && !products[strings.ToLower(run)]:
		return File
	}
	return None
}

// extensions are those that make a bare word a file name.
var extensions = func() map[string]bool {
	m := map[string]bool{}
	for _, e := range strings.Fields(`go mod sum ts tsx js jsx mjs cjs py pyi rs rb java kt kts swift c h cc cpp hpp cs php scala ex exs erl hs lua pl r
		sh bash zsh fish ps1 bat sql md mdx rst txt json jsonl ndjson yaml yml toml ini cfg conf env lock xml html htm css scss less svg png jpg jpeg gif webp pdf
		csv tsv parquet log proto graphql tf hcl vue svelte astro gradle cmake mk patch diff snap bak tmp pem key crt zip tar gz tgz wasm so dll exe db sqlite`) {
		m[e] = true
	}
	return m
}()

// products are names that look like files and are none.
var products = map[string]bool{
	"node.js": true, "next.js": true, "vue.js": true, "nuxt.js": true, "react.js": true, "three.js": true, "d3.js": true, "express.js": true,
	"asp.net": true, "chart.js": true, "alpine.js": true, "backbone.js": true, "socket.io": true, "solid.js": true, "ember.js": true,
}

// HasExtension reports whether the last part of a normalised path is a file name.
func HasExtension(norm string) bool { return extension(Base(norm)) != "" }

// extension returns the extension of a file name, "" when it has none that is known.
func extension(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 1 || i == len(name)-1 {
		return ""
	}
	ext := strings.ToLower(name[i+1:])
	stem := name[:i]
	if !extensions[ext] || stem[0] == '.' || strings.HasSuffix(stem, ".") || (len(ext) == 1 && len(stem) < 3) || !hasLetter(stem) {
		return ""
	}
	return ext
}

func hasLetter(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }) >= 0
}

// isPath accepts rooted paths and those that end in a file name: "and/or" and "read/write" are prose.
func isPath(run string) bool {
	s := strings.ReplaceAll(withoutLine(run), `\`, "/")
	parts, letters := 0, false
	for p := range strings.SplitSeq(s, "/") {
		if p == "" || p == "." || p == ".." || p == "~" {
			continue
		}
		parts++
		letters = letters || hasLetter(p)
	}
	if !letters || parts == 0 {
		return false
	}
	rooted := strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || (len(s) > 2 && s[1] == ':' && s[2] == '/')
	if parts >= 2 && extension(Base(strings.TrimRight(s, "/"))) != "" {
		return true
	}
	return rooted && parts >= 3
}

// isNumber accepts digits with separators, and a unit or a percent sign behind them.
func isNumber(run string) bool {
	i := 0
	if run[0] == 'v' && len(run) > 1 {
		i = 1
	}
	digits := 0
	for i < len(run) && (digit(run[i]) || strings.IndexByte(",._:", run[i]) >= 0 && i > 0) {
		if digit(run[i]) {
			digits++
		}
		i++
	}
	unit := run[i:]
	if digits == 0 || len(unit) > 5 {
		return false
	}
	for j := range len(unit) {
		if c := unit[j]; !(c|0x20 >= 'a' && c|0x20 <= 'z' || c == '%') {
			return false
		}
	}
	return !(isHex(run) && len(unit) > 0)
}

// Digits counts the digits of a number; its unit is what follows them.
func Digits(norm string) (digits int, unit string) {
	last := -1
	for i := range len(norm) {
		if digit(norm[i]) {
			digits++
			last = i
		}
	}
	return digits, norm[last+1:]
}

// isHex accepts commit ids, hashes and UUIDs: hex digits, both letters and decimal digits.
func isHex(run string) bool {
	if len(run) < 7 {
		return false
	}
	letters, digits := 0, 0
	for i := range len(run) {
		switch c := run[i]; {
		case digit(c):
			digits++
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			letters++
		case c == '-' && len(run) == 36 && (i == 8 || i == 13 || i == 18 || i == 23):
		default:
			return false
		}
	}
	return digits > 0 && letters > 0 && digits+letters >= 7
}

// standards look like tickets.
var standards = map[string]bool{
	"utf": true, "sha": true, "iso": true, "rfc": true, "md": true, "aes": true, "rsa": true, "gpt": true, "http": true, "tls": true, "ipv": true,
	"es": true, "cve": true, "x": true, "base": true, "covid": true, "utc": true, "gmt": true, "python": true, "java": true, "http/": true, "ed": true, "m": true, "t": true, "h": true, "f": true, "g": true,
}

func isTicket(run string) bool {
	i := strings.IndexByte(run, '-')
	if i < 2 || i > 10 || i == len(run)-1 || len(run)-i > 7 || standards[strings.ToLower(run[:i])] {
		return false
	}
	for j := range i {
		if c := run[j]; c < 'A' || c > 'Z' {
			return false
		}
	}
	for j := i + 1; j < len(run); j++ {
		if !digit(run[j]) {
			return false
		}
	}
	return true
}

// isError accepts names of system errors and numbered diagnostics.
func isError(run string) bool {
	if strings.IndexByte(run, '_') > 0 {
		return isErrorName(run)
	}
	if upper(run) {
		return errnos[run]
	}
	i := 0
	for i < len(run) && 'A' <= run[i] && run[i] <= 'Z' {
		i++
	}
	if i == 0 || i > 4 || (i == 1 && run[0] == 'V') || len(run)-i < 3 || len(run)-i > 6 {
		return false
	}
	for ; i < len(run); i++ {
		if !digit(run[i]) {
			return false
		}
	}
	return true
}

// isErrorName accepts names in capitals that begin with E_ or ERR_, or end in a number.
func isErrorName(run string) bool {
	if len(run) < 6 || strings.ToUpper(run) != run {
		return false
	}
	last := run[strings.LastIndexByte(run, '_')+1:]
	return strings.HasPrefix(run, "E_") || strings.HasPrefix(run, "ERR_") || len(last) >= 3 && strings.Trim(last, "0123456789") == ""
}

var errnos = func() map[string]bool {
	m := map[string]bool{}
	for _, e := range strings.Fields(`ENOENT EACCES EPERM EEXIST ENOTDIR EISDIR EINVAL EMFILE ENFILE ENOSPC EPIPE EADDRINUSE EADDRNOTAVAIL ECONNREFUSED ECONNRESET
		ECONNABORTED ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAGAIN EBUSY EXDEV ELOOP ENOTEMPTY EROFS ENOMEM EINTR EIO EBADF ENOTSUP ERESOLVE EINTEGRITY`) {
		m[e] = true
	}
	return m
}()
