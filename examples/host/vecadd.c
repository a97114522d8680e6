/* Adds two vectors with the C API: vecadd [PTX file] [device]. */
#include <stdio.h>
#include <stdlib.h>

#include "hetgpu/hetgpu.h"

enum { kCount = 1000000, kBlock = 256 };

static void Check(hetgpuResult result, const char* what) {
  if (result == HETGPU_SUCCESS) return;
  fprintf(stderr, "%s: %s: %s\n", what, hetgpuResultName(result),
          hetgpuGetLastErrorDetail());
  exit(1);
}

static hetgpuDevicePtr Upload(hetgpuContext context, const float* host) {
  hetgpuDevicePtr address = 0;
  Check(hetgpuMemAlloc(context, kCount * sizeof(float), &address), "alloc");
  Check(hetgpuMemCopyHtoD(context, address, host, kCount * sizeof(float)),
        "copy to device");
  return address;
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "vecadd.ptx";
  const char* device_name = argc > 2 ? argv[2] : "cpu";
  static float a[kCount], b[kCount], c[kCount];
  for (int i = 0; i < kCount; ++i) {
    a[i] = (float)i;
    b[i] = 0.5f * (float)i;
  }

  hetgpuDevice device;
  hetgpuContext context;
  hetgpuModule module;
  hetgpuFunction vecadd;
  Check(hetgpuDeviceGetByName(device_name, &device), "device");
  Check(hetgpuContextCreate(device, 0, &context), "context");
  Check(hetgpuModuleLoadFile(context, path, &module), "module");
  Check(hetgpuModuleGetFunction(module, "vecadd", &vecadd), "function");

  hetgpuDevicePtr device_a = Upload(context, a);
  hetgpuDevicePtr device_b = Upload(context, b);
  hetgpuDevicePtr device_c = Upload(context, c);
  uint32_t count = kCount;
  void* args[] = {&device_a, &device_b, &device_c, &count};
  const hetgpuDim3 grid = {(kCount + kBlock - 1) / kBlock, 1, 1};
  const hetgpuDim3 block = {kBlock, 1, 1};
  Check(hetgpuLaunchKernel(vecadd, grid, block, 0, NULL, args), "launch");
  Check(hetgpuMemCopyDtoH(context, c, device_c, sizeof(c)), "copy to host");

  for (int i = 0; i < kCount; ++i) {
    if (c[i] != a[i] + b[i]) {
      fprintf(stderr, "c[%d] is %g, expected %g\n", i, c[i], a[i] + b[i]);
      return 1;
    }
  }
  printf("%d sums are right\n", kCount);
  Check(hetgpuContextDestroy(context), "destroy");
  return 0;
}
