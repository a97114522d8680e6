// Float operations that exist on floats only.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

void Approximate(Lowering& l, hetir::Approx function) {
  l.MapOperands(l.mods().type(), 1, [&](const Values& in) -> Value {
    return l.Create<hetir::ApproxOp>(function, in[0], l.Has(Flag::kFtz));
  });
}

void LowerRcp(Lowering& l) {
  Type type = l.mods().type();
  if (type == Type::kF64 && l.Has(Flag::kApprox)) {
    return Approximate(l, hetir::Approx::rcp_hi);
  }
  l.Write(l.Create<hetir::FRcpOp>(l.Read(1, type), RoundingOf(l.mods()),
                                  l.Has(Flag::kFtz)),
          type);
}

void LowerSqrt(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<hetir::FSqrtOp>(l.Read(1, type), RoundingOf(l.mods()),
                                   l.Has(Flag::kFtz)),
          type);
}

void LowerRsqrt(Lowering& l) {
  bool upper_half = l.mods().type() == Type::kF64 && l.Has(Flag::kFtz);
  Approximate(l, upper_half ? hetir::Approx::rsqrt_hi : hetir::Approx::rsqrt);
}

template <hetir::Approx function>
void LowerApprox(Lowering& l) {
  Approximate(l, function);
}

void LowerCopysign(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<hetir::CopySignOp>(l.Read(1, type), l.Read(2, type)), type);
}

hetir::Testp PropertyOf(Mode mode) {
  switch (mode) {
    case Mode::kInfinite: return hetir::Testp::infinite;
    case Mode::kNumber: return hetir::Testp::number;
    case Mode::kNotanumber: return hetir::Testp::notanumber;
    case Mode::kNormal: return hetir::Testp::normal;
    case Mode::kSubnormal: return hetir::Testp::subnormal;
    default: return hetir::Testp::finite;
  }
}

void LowerTestp(Lowering& l) {
  l.Write(l.Create<hetir::TestpOp>(l.I1(), PropertyOf(l.mods().mode),
                                   l.Read(1, l.mods().type())),
          Type::kPred);
}

constexpr LoweringRow kRows[] = {
    {Op::kRcp, Effect::kPure, LowerRcp},
    {Op::kSqrt, Effect::kPure, LowerSqrt},
    {Op::kRsqrt, Effect::kPure, LowerRsqrt},
    {Op::kSin, Effect::kPure, LowerApprox<hetir::Approx::sin>},
    {Op::kCos, Effect::kPure, LowerApprox<hetir::Approx::cos>},
    {Op::kLg2, Effect::kPure, LowerApprox<hetir::Approx::lg2>},
    {Op::kEx2, Effect::kPure, LowerApprox<hetir::Approx::ex2>},
    {Op::kTanh, Effect::kPure, LowerApprox<hetir::Approx::tanh>},
    {Op::kCopysign, Effect::kPure, LowerCopysign},
    {Op::kTestp, Effect::kPure, LowerTestp},
};

}  // namespace

std::span<const LoweringRow> FloatRows() { return kRows; }

}  // namespace hetgpu::ptx
