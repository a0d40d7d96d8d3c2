package fortran

import (
	"strings"
	"testing"
)

func TestCompilersAreToldByWhatTheySay(t *testing.T) {
	for _, c := range []struct{ says, want string }{
		{"GNU Fortran (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software", "gfortran 12.2.0"},
		{"GNU Fortran (GCC) 13.2.1 20231011 (Red Hat 13.2.1-4)\n", "gfortran 13.2.1"},
		{"GNU Fortran (crosstool-NG 1.23 (x)) 8.3.0\n", "gfortran 8.3.0"},
		{"Debian flang-new version 19.1.7 (3~deb12u1)\nTarget: x86_64-pc-linux-gnu\n", "flang 19.1.7"},
		{"flang version 20.1.0\nTarget: x86_64", "flang 20.1.0"},
		{"ifx (IFX) 2024.0.0 20231017\nCopyright (C) 1985-2023 Intel Corporation.", "ifx 2024.0.0"},
		{"ifort (IFORT) 2021.10.0 20230609\n", "ifort 2021.10.0"},
		{"\nnvfortran 23.9-0 64-bit target on x86-64 Linux -tp znver3 \nNVIDIA Compilers", "nvfortran 23.9-0"},
	} {
		got := Identify([]string{"/usr/bin/f95"}, c.says)
		if got.String() != c.want || !got.known {
			t.Errorf("%q is %v, want %s", c.says, got, c.want)
		}
	}
}

// AOCC's flang is not LLVM's, and a compiler between releases is like no other.
func TestUnknownCompilersAndSnapshotsHaveASumForAVersion(t *testing.T) {
	aocc := Identify([]string{"/opt/aocc/flang"}, "AMD clang version 16.0.3 (CLANG: AOCC_4.1.0)")
	other := Identify([]string{"/opt/aocc/flang"}, "AMD clang version 17.0.6 (CLANG: AOCC_5.0.0)")
	if aocc.known || aocc.Family != "flang" || aocc.Version == other.Version || len(aocc.Version) != 8 {
		t.Errorf("%+v and %+v", aocc, other)
	}
	one := Identify([]string{"flang"}, "flang version 22.0.0git (https://github.com/llvm/llvm-project 1234)")
	two := Identify([]string{"flang"}, "flang version 22.0.0git (https://github.com/llvm/llvm-project 5678)")
	if one.Version == two.Version || !strings.HasPrefix(one.Version, "22.0.0git-") || !one.known {
		t.Errorf("%+v and %+v", one, two)
	}
	if hostile := Identify([]string{"../a b;c"}, "x"); strings.ContainsAny(hostile.Family, "/ ;") {
		t.Errorf("%+v is to name a folder", hostile)
	}
}

func TestOldGfortransLackTheDescriptorsOfMpiF08(t *testing.T) {
	for version, lacks := range map[string]bool{"4.9.4": true, "8.3.0": true, "9.1.0": false, "12.2.0": false} {
		if got := (Compiler{Family: "gfortran", Version: version, known: true}).lacksF08(); got != lacks {
			t.Errorf("gfortran %s: %v", version, got)
		}
	}
	if (Compiler{Family: "flang", Version: "7.0.0", known: true}).lacksF08() {
		t.Error("flang's versions are others")
	}
}

func TestNewGfortransTakeBuffersOfAllTypes(t *testing.T) {
	for _, c := range []struct {
		family, version string
		want            int
	}{{"gfortran", "9.4.0", 0}, {"gfortran", "10.2.1", 1}, {"gfortran", "15.1.0", 1}, {"flang", "19.1.7", 0}} {
		got := (Compiler{Family: c.family, Version: c.version, known: true}).Lenient()
		if len(got) != c.want {
			t.Errorf("%s %s: %q", c.family, c.version, got)
		}
	}
}

func TestOptionsOfAllCompilersGiveTheKinds(t *testing.T) {
	for _, c := range []struct{ words, variant, fails string }{
		{"-O2 -c a.f90", "", ""},
		{"-fdefault-integer-8", "i8", ""}, {"-finteger-4-integer-8", "i8", ""}, {"-i8", "i8", ""},
		{"-integer-size=64", "i8", ""}, {"-integer-size 64", "i8", ""}, {"-integer_size 64", "i8", ""},
		{"-qintsize=8", "i8", ""}, {"-i8 -i4", "", ""}, {"-integer-size", "", ""},
		{"-fdefault-real-8", "r8", ""}, {"-fdefault-real-8 -fdefault-double-8", "r8d8", ""},
		{"-fdefault-double-8 -fdefault-real-8", "r8d8", ""}, {"-fdefault-double-8", "", ""},
		{"-freal-4-real-8", "r8d8", ""}, {"-r8", "r8d8", ""}, {"-real-size 64", "r8d8", ""}, {"-autodouble", "r8d8", ""},
		{"-r8 -double-size 128", "r8", ""}, {"-qrealsize=8", "r8", ""},
		{"-fdefault-integer-8 -fdefault-real-8", "i8r8", ""}, {"-i8 -r8", "i8r8d8", ""},
		{"-i2", "", "-i2: MPI's datatypes are not made for INTEGER of 2 bytes"},
		{"-fdefault-real-16", "", "REAL of 16"}, {"-r16", "", "REAL of 16"}, {"-fdefault-real-10", "", "REAL of 10"},
		{"-double-size 128", "", "-double-size 128: MPI's datatypes are not made for DOUBLE PRECISION of 16"},
		{"-freal-8-real-4", "", "DOUBLE PRECISION of 4"},
	} {
		got, err := KindsOf(strings.Fields(c.words)).Variant()
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, want %q", c.words, err, c.fails)
			}
		} else if err != nil || got != c.variant {
			t.Errorf("%s is %q, %v; want %q", c.words, got, err, c.variant)
		}
	}
}

// What a compiler is told for the modules gives the kinds of the program again.
func TestEveryVariantComesBackFromTheOptionsThatMakeItsModules(t *testing.T) {
	for _, f := range families {
		c := Compiler{Family: f.name, known: true}
		for _, k := range Variants {
			want, _ := k.Variant()
			options, can := c.options(k)
			got, err := KindsOf(options).Variant()
			if can && (err != nil || got != want) {
				t.Errorf("%s: %q is %q, %v; want %q", f.name, options, got, err, want)
			}
			if !can && (f.name != "nvfortran" || k.Double != 16) {
				t.Errorf("%s cannot have %s", f.name, want)
			}
		}
	}
	other := Compiler{Family: "ftn"}
	if options, can := other.options(KindsOf([]string{"-i8"})); !can || len(options) != 1 {
		t.Errorf("an unknown compiler gets %q, %v: the user's own words are good for the modules, too", options, can)
	}
	if _, can := other.options(Variants[1]); can {
		t.Error("nobody knows how an unknown compiler has long INTEGERs")
	}
}
