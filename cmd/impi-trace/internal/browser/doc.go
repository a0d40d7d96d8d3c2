// Package browser tests impi-trace as people use it: the page in a browser without a window, and, where it can be had,
// its file in Perfetto. IMPI_STAGE names the stage; ctest sets it. With IMPI_SCREENSHOTS, a folder, pictures are kept
// there.
package browser
