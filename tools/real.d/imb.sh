# IMB, Intel's benchmarks, from Intel MPI's wheel.
if [ -x imb/IMB-MPI1 ] || { mkdir -p imb && wheel pip &&
     python/bin/pip download -q --no-deps -d imb impi-rt >/dev/null 2>&1 &&
    python3 - imb <<'END'
import glob, os, sys, zipfile
with zipfile.ZipFile(glob.glob(sys.argv[1] + "/*.whl")[0]) as z:
    for name in z.namelist():
        file = os.path.basename(name)
        if file in ("IMB-MPI1", "IMB-NBC", "IMB-RMA", "IMB-P2P"):
            path = os.path.join(sys.argv[1], file)
            with open(path, "wb") as out:
                out.write(z.read(name))
            os.chmod(path, 0o755)
END
}; then
    printf '8\n4096\n' >lengths
    for program in IMB-MPI1 IMB-NBC IMB-RMA; do
        for how in "-n 2" "-n 4" "-clients 2 -n 2"; do
            # shellcheck disable=SC2086 # words
            if $run $how "imb/$program" -iter 20 -msglen lengths -time 0.1 >imb.log 2>&1 &&
                grep -q 'All processes entering MPI_Finalize' imb.log && ! grep -qi error imb.log; then
                ok "$program $how"
            else
                no "$program $how"
                tail -5 imb.log
            fi
        done
    done
else
    skip "IMB: the wheel impi-rt cannot be had"
fi
