measure 8192 60 ocl:0 --set scheme.gauge=infinite
measure 8192 60 ocl:0
measure 8192 60 ocl:0 --set fields.h=1 --set scheme.gauge=infinite
