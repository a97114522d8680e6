#include "backends/cpu/faults.h"

#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <mutex>

#include "backends/cpu/faulting_lane.h"
#include "backends/cpu/overlay.h"
#include "backends/cpu/worker.h"

namespace hetgpu::cpu {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t kMaxScan = 16u << 10;

struct sigaction previous[NSIG];

#if defined(__x86_64__)
uintptr_t ProgramCounter(const ucontext_t* context) {
  return static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
}

uintptr_t StackPointer(const ucontext_t* context) {
  return static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RSP]);
}

void ContinueAt(ucontext_t* context, uintptr_t pc, uintptr_t sp) {
  constexpr greg_t kDirectionAndAlignment = (1 << 10) | (1 << 18);
  auto& registers = context->uc_mcontext.gregs;
  registers[REG_RIP] = static_cast<greg_t>(pc);
  registers[REG_RSP] = static_cast<greg_t>(sp);
  registers[REG_EFL] &= ~kDirectionAndAlignment;
}

// Whether a call ends at `pc`, of which `before` bytes in front may be read.
bool FollowsCall(uintptr_t pc, uintptr_t before) {
  const auto* const end = reinterpret_cast<const uint8_t*>(pc);
  if (before >= 5 && end[-5] == 0xe8) return true;  // call rel32
  // call r/m64: FF /2, then as much as its ModRM byte asks for.
  for (const unsigned bytes : {2u, 3u, 4u, 6u, 7u}) {
    if (before < bytes || end[-static_cast<int>(bytes)] != 0xff) continue;
    const uint8_t modrm = end[1 - static_cast<int>(bytes)];
    const unsigned mod = modrm >> 6, rm = modrm & 7;
    const unsigned sib = mod != 3 && rm == 4 ? 1 : 0;
    const unsigned displacement =
        mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
    if ((modrm >> 3 & 7) == 2 && bytes == 2 + sib + displacement) return true;
  }
  return false;
}
#elif defined(__aarch64__)
uintptr_t ProgramCounter(const ucontext_t* context) {
  return context->uc_mcontext.pc;
}

uintptr_t StackPointer(const ucontext_t* context) {
  return context->uc_mcontext.sp;
}

void ContinueAt(ucontext_t* context, uintptr_t pc, uintptr_t sp) {
  context->uc_mcontext.pc = pc;
  context->uc_mcontext.sp = sp & ~uintptr_t{15};
}

bool FollowsCall(uintptr_t pc, uintptr_t before) {
  if (before < 4 || pc % 4 != 0) return false;
  const uint32_t word = reinterpret_cast<const uint32_t*>(pc)[-1];
  return (word & 0xfc000000) == 0x94000000 ||  // bl
         (word & 0xfffffc1f) == 0xd63f0000;    // blr
}
#else
#error "the CPU backend needs the register names of this architecture"
#endif

void LeaveKernel(Worker* worker, ucontext_t* context, Outcome outcome) {
  worker->SetLandingOutcome(outcome);
  ContinueAt(context, reinterpret_cast<uintptr_t>(&Worker::Landing),
             worker->LandingStack());
}

// The line of the emitted call below which a fault happened in a helper or in
// shared code: the innermost return address into code with a line of its own.
// Registers that were saved may point into the code as well, but not behind a
// call. Reads whatever lies on the stack, which sanitizers would object to.
__attribute__((no_sanitize_address)) uint32_t LineOfCaller(Worker* worker,
                                                           uintptr_t sp) {
  const KernelCode& code = worker->launch()->code();
  if (worker->helper_caller != 0) return code.LineOf(worker->helper_caller - 1);
  const Stack& stack = worker->current()->stack;
  const uintptr_t low = reinterpret_cast<uintptr_t>(stack.low);
  const uintptr_t high = reinterpret_cast<uintptr_t>(stack.high);
  if (sp < low || sp >= high || sp % sizeof(uintptr_t) != 0) return 0;
  const uintptr_t end = high - sp < kMaxScan ? high : sp + kMaxScan;
  for (; sp + sizeof(uintptr_t) <= end; sp += sizeof(uintptr_t)) {
    const uintptr_t word = *reinterpret_cast<const volatile uintptr_t*>(sp);
    if (!code.Contains(word) || !FollowsCall(word, word - code.begin)) continue;
    const uint32_t line = code.LineOf(word - 1);
    if (line != kLineOfCaller) return line;
  }
  return 0;
}

void RecordFault(Worker* worker, int signal, const siginfo_t* info,
                 const ucontext_t* context) {
  FaultRecord& fault = worker->fault();
  fault = FaultRecord();
  fault.signal = signal;
  fault.code = info->si_code;
  fault.address = reinterpret_cast<uintptr_t>(info->si_addr);
  fault.pc = ProgramCounter(context);
  const KernelCode& code = worker->launch()->code();
  const bool in_code = code.Contains(fault.pc);
  fault.in_helper = !in_code && fault.pc != fault.address;
  fault.line = in_code ? code.LineOf(fault.pc) : kLineOfCaller;
  if (fault.line == kLineOfCaller) {
    fault.line = LineOfCaller(worker, StackPointer(context));
  }
  if (in_code) {
    fault.lane = FaultingLane(code, *worker->frame(), fault.pc, fault.address,
                              *context);
  } else if (code.lanes_per_unit == 1) {
    fault.lane = 0;
  }
  const uintptr_t low =
      reinterpret_cast<uintptr_t>(worker->current()->stack.low);
  fault.in_guard = signal == SIGSEGV && fault.address < low &&
                   fault.address >= low - kGuardBytes;
}

void CallPrevious(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = previous[signal];
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
    // The instruction faults again and ends the process as it would have.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    if (info->si_code <= 0) raise(signal);
  } else {
    before.sa_handler(signal);
  }
}

void OnFault(int signal, siginfo_t* info, void* raw) {
  Worker* worker = Worker::Current();
  const bool from_instruction = info->si_code > 0;
  if (signal == SIGSEGV && from_instruction &&
      Overlay::HoldFault(reinterpret_cast<uintptr_t>(info->si_addr))) {
    return;
  }
  if (worker == nullptr || !worker->in_kernel() || !from_instruction) {
    CallPrevious(signal, info, raw);
    return;
  }
  auto* context = static_cast<ucontext_t*>(raw);
  RecordFault(worker, signal, info, context);
  LeaveKernel(worker, context, Outcome::kSignal);
}

void OnStop(int signal, siginfo_t* info, void* raw) {
  Worker* worker = Worker::Current();
  if (worker == nullptr) {
    // Perhaps of another copy of this library in the process.
    const struct sigaction& before = previous[signal];
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(signal, info, raw);
    return;
  }
  if (!worker->in_kernel()) return;
  auto* context = static_cast<ucontext_t*>(raw);
  Launch* launch = worker->launch();
  if (!launch->stopped()) return;
  if (!launch->code().Contains(ProgramCounter(context))) return;
  LeaveKernel(worker, context, Outcome::kStopped);
}

void Install() {
  struct sigaction action {};
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  action.sa_sigaction = OnFault;
  for (int signal : kFaults) sigaction(signal, &action, &previous[signal]);
  action.sa_sigaction = OnStop;
  sigaction(StopSignal(), &action, &previous[StopSignal()]);
}

}  // namespace

void InstallFaultHandlers() {
  static std::once_flag once;
  std::call_once(once, Install);
}

int StopSignal() { return SIGRTMIN + 6; }

}  // namespace hetgpu::cpu
