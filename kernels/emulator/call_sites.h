#pragma once

#include <cuda_runtime.h>

#include "taper/kernels/emulator/control.h"

// Tells the emulator the line of each call of the CUDA runtime, which no function of that interface
// takes. Included before anything else in what is compiled for the emulator (-include); that code
// must not write ::cudaMalloc.

#define TAPER_CALL_SITE(function, ...) \
  (::taper::emulator::call_site(__FILE__, __LINE__), ::function(__VA_ARGS__))

#define cudaMalloc(...) TAPER_CALL_SITE(cudaMalloc, __VA_ARGS__)
#define cudaFree(...) TAPER_CALL_SITE(cudaFree, __VA_ARGS__)
#define cudaMallocHost(...) TAPER_CALL_SITE(cudaMallocHost, __VA_ARGS__)
#define cudaHostAlloc(...) TAPER_CALL_SITE(cudaHostAlloc, __VA_ARGS__)
#define cudaFreeHost(...) TAPER_CALL_SITE(cudaFreeHost, __VA_ARGS__)
#define cudaHostRegister(...) TAPER_CALL_SITE(cudaHostRegister, __VA_ARGS__)
#define cudaMemcpy(...) TAPER_CALL_SITE(cudaMemcpy, __VA_ARGS__)
#define cudaMemcpyAsync(...) TAPER_CALL_SITE(cudaMemcpyAsync, __VA_ARGS__)
#define cudaMemcpy2DAsync(...) TAPER_CALL_SITE(cudaMemcpy2DAsync, __VA_ARGS__)
#define cudaMemcpyPeerAsync(...) TAPER_CALL_SITE(cudaMemcpyPeerAsync, __VA_ARGS__)
#define cudaMemset(...) TAPER_CALL_SITE(cudaMemset, __VA_ARGS__)
#define cudaMemsetAsync(...) TAPER_CALL_SITE(cudaMemsetAsync, __VA_ARGS__)
#define cudaMemset2DAsync(...) TAPER_CALL_SITE(cudaMemset2DAsync, __VA_ARGS__)
#define cudaStreamCreate(...) TAPER_CALL_SITE(cudaStreamCreate, __VA_ARGS__)
#define cudaStreamCreateWithFlags(...) TAPER_CALL_SITE(cudaStreamCreateWithFlags, __VA_ARGS__)
#define cudaStreamCreateWithPriority(...) TAPER_CALL_SITE(cudaStreamCreateWithPriority, __VA_ARGS__)
#define cudaStreamDestroy(...) TAPER_CALL_SITE(cudaStreamDestroy, __VA_ARGS__)
#define cudaStreamSynchronize(...) TAPER_CALL_SITE(cudaStreamSynchronize, __VA_ARGS__)
#define cudaStreamQuery(...) TAPER_CALL_SITE(cudaStreamQuery, __VA_ARGS__)
#define cudaStreamWaitEvent(...) TAPER_CALL_SITE(cudaStreamWaitEvent, __VA_ARGS__)
#define cudaStreamBeginCapture(...) TAPER_CALL_SITE(cudaStreamBeginCapture, __VA_ARGS__)
#define cudaStreamEndCapture(...) TAPER_CALL_SITE(cudaStreamEndCapture, __VA_ARGS__)
#define cudaLaunchHostFunc(...) TAPER_CALL_SITE(cudaLaunchHostFunc, __VA_ARGS__)
#define cudaEventCreate(...) TAPER_CALL_SITE(cudaEventCreate, __VA_ARGS__)
#define cudaEventCreateWithFlags(...) TAPER_CALL_SITE(cudaEventCreateWithFlags, __VA_ARGS__)
#define cudaEventRecord(...) TAPER_CALL_SITE(cudaEventRecord, __VA_ARGS__)
#define cudaEventSynchronize(...) TAPER_CALL_SITE(cudaEventSynchronize, __VA_ARGS__)
#define cudaGraphInstantiate(...) TAPER_CALL_SITE(cudaGraphInstantiate, __VA_ARGS__)
#define cudaGraphLaunch(...) TAPER_CALL_SITE(cudaGraphLaunch, __VA_ARGS__)
#define cudaDeviceSynchronize() TAPER_CALL_SITE(cudaDeviceSynchronize)
#define cudaFuncSetAttribute(...) TAPER_CALL_SITE(cudaFuncSetAttribute, __VA_ARGS__)
