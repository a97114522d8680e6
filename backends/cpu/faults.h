// Signals: hardware faults in kernels become launch errors, and the stop
// signal takes a worker out of a loop that never ends.
//
// A handler records what happened and lets the thread go on at
// Worker::Landing() on the top of the fiber's own stack, which is given up.
// Faults anywhere else go to the handler that was there before.
#ifndef HETGPU_BACKENDS_CPU_FAULTS_H_
#define HETGPU_BACKENDS_CPU_FAULTS_H_

namespace hetgpu::cpu {

// Installs the handlers of the process, once; later calls do nothing.
void InstallFaultHandlers();

// Sent to workers of a launch that has stopped(). Ignored by a thread that is
// in no kernel, or in a helper: the sender tries again.
int StopSignal();

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_FAULTS_H_
