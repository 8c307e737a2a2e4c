set(KernelMaxNumNodes 4 CACHE STRING "" FORCE)
