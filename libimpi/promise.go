package libimpi

// promises are what the program says it will not do on a communicator, by its info (MPI 5.0, 7.4.4). They spare the
// matcher a look, and change nothing else: a program that breaks one is erroneous.
type promises struct {
	noAnyTag    bool // mpi_assert_no_any_tag
	noAnySource bool // mpi_assert_no_any_source
}
