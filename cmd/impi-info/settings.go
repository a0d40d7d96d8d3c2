package main

// setting is one environment variable that libimpi reads.
type setting struct {
	name, fallback string
	secret         bool
	help           string
}

var settings = []setting{
	{"IMPI_AUTH_KEY", "unset", true, "key of a job of several clients: a decimal number below 2^63"},
	{"IMPI_AUTH_NONE", "unset", false, "if set, clients may join a job without a key"},
	{"MPIEXEC_TIMEOUT", "none", false, "seconds after which impirun ends a job"},
	{"IMPI_CC", "cc", false, "compiler that mpicc runs (also MPICH_CC, OMPI_CC, I_MPI_CC)"},
	{"IMPI_CXX", "c++", false, "compiler that mpicxx runs (also MPICH_CXX, OMPI_CXX, I_MPI_CXX)"},
}

// inForce answers the value and where it comes from. A secret is never shown.
func (s *setting) inForce(lookup func(string) (string, bool)) (value, source string) {
	v, ok := lookup(s.name)
	switch {
	case !ok:
		return s.fallback, "default"
	case s.secret:
		return "(hidden)", "environment"
	}
	return v, "environment"
}
