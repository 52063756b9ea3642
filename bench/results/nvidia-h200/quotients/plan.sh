m() { size=$1; shift; measure "$size" 60 ocl:0 "$@"; }
main=$strake
for r in 1 2; do
 for strake in $main bA/build/strake; do echo $strake | tee -a "$out/rates.txt"; m 8192; m 8192 --set scheme.gauge=infinite; measure 1024 1000 ocl:0; done
done
