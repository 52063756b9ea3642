/*
 * An OpenCL library whose devices call themselves GPUs, so that `auto` and `hybrid` take them where there
 * is none. Built and used by tests/cli/auto.t.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void *value,
                       size_t *size_out)
{
    typedef cl_int function(cl_device_id, cl_device_info, size_t, void *, size_t *);
    void *const library = dlopen("libOpenCL.so.1", RTLD_NOW);
    void *const symbol = library != NULL ? dlsym(library, "clGetDeviceInfo") : NULL;
    function *const real = *(function *const *)&symbol;
    const cl_int code = real(device, name, size, value, size_out);
    if (code == CL_SUCCESS && name == CL_DEVICE_TYPE && value != NULL) {
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    }
    return code;
}
