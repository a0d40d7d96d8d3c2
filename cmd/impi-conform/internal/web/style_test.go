package web

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

// colours are the variables of a part of the style.
func colours(t *testing.T, css string) map[string][3]float64 {
	t.Helper()
	m := map[string][3]float64{}
	for _, x := range regexp.MustCompile(`--([a-z-]+):#([0-9a-f]{6})`).FindAllStringSubmatch(css, -1) {
		var c [3]int
		if _, err := fmt.Sscanf(x[2], "%02x%02x%02x", &c[0], &c[1], &c[2]); err != nil {
			t.Fatal(err)
		}
		m[x[1]] = [3]float64{float64(c[0]), float64(c[1]), float64(c[2])}
	}
	return m
}

// luminance and contrast are those of WCAG 2.2.
func luminance(c [3]float64) float64 {
	var l float64
	for i, weight := range [3]float64{0.2126, 0.7152, 0.0722} {
		x := c[i] / 255
		if x <= 0.04045 {
			x /= 12.92
		} else {
			x = math.Pow((x+0.055)/1.055, 2.4)
		}
		l += weight * x
	}
	return l
}

func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestColoursHaveEnoughContrast(t *testing.T) {
	css := string(assets[assetNames["style.css"]])
	light, rest, ok := strings.Cut(css, "@media (prefers-color-scheme:dark)")
	dark, _, ok2 := strings.Cut(rest, "}}")
	if !ok || !ok2 {
		t.Fatal("the style has no dark colours")
	}
	for name, part := range map[string]string{"light": light, "dark": dark} {
		c := colours(t, part)
		if len(c) < 12 {
			t.Fatalf("%s has %d colours", name, len(c))
		}
		text := []string{"ink", "soft", "bad", "good", "doubt", "link"}
		for _, front := range text {
			for _, back := range []string{"paper", "shade"} {
				if k := contrast(c[front], c[back]); k < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f, must be 4.5", name, front, back, k)
				}
			}
		}
		for pair, least := range map[[2]string]float64{{"on-button", "button"}: 4.5, {"paper", "bad"}: 4.5,
			{"edge", "paper"}: 3, {"link", "paper"}: 3} {
			if k := contrast(c[pair[0]], c[pair[1]]); k < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, must be %.1f", name, pair[0], pair[1], k, least)
			}
		}
	}
}

func TestContrastIsThatOfTheGuidelines(t *testing.T) {
	if k := contrast([3]float64{}, [3]float64{255, 255, 255}); math.Abs(k-21) > 1e-9 {
		t.Errorf("black on white is %v", k)
	}
	if k := contrast([3]float64{119, 119, 119}, [3]float64{255, 255, 255}); math.Abs(k-4.48) > 0.01 {
		t.Errorf("#777 on white is %v", k)
	}
}
