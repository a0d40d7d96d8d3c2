package main

import "testing"

func TestVersionIsFoundInWhatALauncherSays(t *testing.T) {
	for said, want := range map[string]string{
		"impirun (libimpi 0.1.0 (Interoperable MPI; not Intel MPI))\n":         "0.1.0",
		"HYDRA build details:\n    Version:         4.0.2\n    CC: gcc-12.2\n": "4.0.2",
		"mpirun (Open MPI) 5.0.11\n":                                           "5.0.11",
		"mpirun.openmpi (OpenRTE) 4.1.4\n":                                     "4.1.4",
		"mpirun (Open MPI) 6.0.0rc1\n\nReport":                                 "6.0.0rc1",
		"no number":                                                            "",
	} {
		if got := versionIn(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
