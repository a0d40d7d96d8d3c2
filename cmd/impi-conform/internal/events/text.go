package events

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text of others safe to show: at most limit bytes of it, then how many were left out; control characters,
// bytes that are no UTF-8, and characters that cannot be seen or turn the direction become escapes. Line feeds and
// tabs stay.
func Clean(text string, limit int) string {
	left := 0
	if len(text) > limit {
		cut := limit
		for cut > 0 && cut > limit-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		left = len(text) - cut
		text = text[:cut]
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, " ... (%d more bytes)", left)
	}
	return b.String()
}
