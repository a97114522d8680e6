"""Random structured programs of exact instructions: divergent branches,
bounded loops, predication, constants, shared memory and warp exchanges.

Every thread starts from its row of the inputs. NaN results are made the
canonical NaN, because their bits may flow into integer instructions.
"""

from generator.kernel import (PROLOGUE, buffer_in, buffer_out, free,
                              store_output)
from generator.pools import Rng

COUNT, THREADS, WORDS, LONGS = 96, 64, 8, 4

INT32 = ("add.s32", "sub.s32", "mul.lo.s32", "mul.hi.u32", "mul.hi.s32",
         "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "shl.b32",
         "shr.u32", "shr.s32", "add.sat.s32", "mul24.lo.s32")
INT32_ONE = ("not.b32", "neg.s32", "abs.s32", "brev.b32", "clz.b32",
             "popc.b32", "cnot.b32")
INT32_THREE = ("mad.lo.s32", "mad.hi.u32", "sad.s32", "bfe.u32", "bfe.s32",
               "prmt.b32", "shf.l.wrap.b32", "shf.r.clamp.b32",
               "dp4a.s32.u32")
INT64 = ("add.s64", "sub.s64", "mul.lo.s64", "mul.hi.u64", "min.s64",
         "max.u64", "and.b64", "or.b64", "xor.b64")
FLOAT32 = ("add.rn.f32", "mul.rn.f32", "sub.rn.f32", "min.f32", "max.f32",
           "add.rz.f32", "mul.rp.f32", "div.rn.f32", "add.ftz.f32")
FLOAT64 = ("add.rn.f64", "mul.rn.f64", "sub.rn.f64", "div.rn.f64")
COMPARE = ("setp.lt.s32", "setp.ge.u32", "setp.eq.s32", "setp.ne.u32",
           "setp.gt.f32", "setp.leu.f32", "setp.neu.f32")
CONSTANTS = ("0", "1", "-1", "7", "31", "32", "0x80000000", "0x7fffffff",
             "255", "-100", "0x0f0f0f0f", "65536")


class Program:
    def __init__(self, number):
        self.rng = Rng(f"program {number}")
        self.lines, self.labels, self.depth = [], 0, 0

    def pick(self, items):
        return self.rng.pick(items)

    def word(self):
        return f"%w{self.rng.next() % WORDS}"

    def long(self):
        return f"%q{self.rng.next() % LONGS}"

    def pred(self):
        return f"%p{self.rng.next() % 3}"

    def operand(self):
        return self.pick(CONSTANTS) if self.rng.next() % 4 == 0 else self.word()

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def emit(self, text):
        guard = ""
        if self.rng.next() % 6 == 0:
            guard = f"@{self.pick(('', '!'))}{self.pred()} "
        self.lines.append(guard + text)

    def plain(self, text):
        self.lines.append(text)

    def statement(self):
        kind = self.rng.next() % 20
        if kind < 6:
            self.emit(f"{self.pick(INT32)} {self.word()}, {self.word()}, "
                      f"{self.operand()};")
        elif kind < 8:
            self.emit(f"{self.pick(INT32_ONE)} {self.word()}, {self.word()};")
        elif kind < 10:
            form = self.pick(INT32_THREE)  # bfe limits its constants
            last = self.word() if form[:3] == "bfe" else self.operand()
            self.emit(f"{form} {self.word()}, {self.word()}, {self.word()}, "
                      f"{last};")
        elif kind < 12:
            self.long_statement()
        elif kind < 14:
            self.float_statement()
        elif kind < 15:
            self.emit(f"selp.b32 {self.word()}, {self.word()}, "
                      f"{self.operand()}, {self.pred()};")
        elif kind < 16:
            self.plain(f"{self.pick(COMPARE)} {self.pred()}, {self.word()}, "
                       f"{self.word()};")
        elif kind < 17:
            lut = self.rng.next() & 255
            self.emit(f"lop3.b32 {self.word()}, {self.word()}, {self.word()},"
                      f" {self.operand()}, {lut};")
        elif kind < 18 and self.depth < 3:
            self.branch()
        elif kind < 19 and self.depth < 2:
            self.loop()
        elif self.depth == 0:
            self.exchange()
        else:
            self.carry()

    def long_statement(self):
        kind = self.rng.next() % 5
        if kind < 2:
            self.emit(f"{self.pick(INT64)} {self.long()}, {self.long()}, "
                      f"{self.long()};")
        elif kind == 2:
            self.emit(f"mul.wide.{self.pick('us')}32 {self.long()}, "
                      f"{self.word()}, {self.word()};")
        elif kind == 3:
            first = self.rng.next() % WORDS
            second = (first + 1 + self.rng.next() % (WORDS - 1)) % WORDS
            self.emit(f"mov.b64 {{%w{first}, %w{second}}}, {self.long()};")
        else:
            self.emit(f"{self.pick(('shl.b64', 'shr.s64', 'shr.u64'))} "
                      f"{self.long()}, {self.long()}, {self.operand()};")

    def float_statement(self):
        kind = self.rng.next() % 5
        if kind < 3:
            target = self.word()
            if kind == 2:
                self.plain(f"fma.rn.f32 {target}, {self.word()}, "
                           f"{self.word()}, {self.word()};")
            else:
                self.plain(f"{self.pick(FLOAT32)} {target}, {self.word()}, "
                           f"{self.word()};")
            self.plain(f"setp.nan.f32 %pn, {target}, {target};")
            self.plain(f"@%pn mov.b32 {target}, 0x7fffffff;")
        elif kind == 3:
            target = self.long()
            self.plain(f"{self.pick(FLOAT64)} {target}, {self.long()}, "
                       f"{self.long()};")
            self.plain(f"setp.nan.f64 %pn, {target}, {target};")
            self.plain(f"@%pn mov.b64 {target}, 0x7ff8000000000000;")
        else:
            conversion = self.pick(("cvt.rzi.s32.f32", "cvt.rn.f32.s32",
                                    "cvt.rni.u32.f32", "cvt.rz.f32.u32"))
            self.emit(f"{conversion} {self.word()}, {self.word()};")

    def carry(self):
        first, second = self.word(), self.word()
        self.plain(f"add.cc.u32 {first}, {first}, {self.operand()};")
        self.plain(f"addc.u32 {second}, {second}, {self.operand()};")

    def block(self, size):
        self.depth += 1
        for _ in range(size):
            self.statement()
        self.depth -= 1

    def branch(self):
        other, end = self.label(), self.label()
        self.plain(f"@{self.pick(('', '!'))}{self.pred()} bra {other};")
        self.block(1 + self.rng.next() % 4)
        if self.rng.next() % 2:
            self.plain(f"bra {end};")
            self.plain(f"{other}:")
            self.block(1 + self.rng.next() % 4)
            self.plain(f"{end}:")
        else:
            self.plain(f"{other}:")

    def loop(self):
        """At most nine rounds, their number a matter of the thread."""
        counter, head = f"%c{self.depth}", self.label()
        end = self.label()
        self.plain(f"and.b32 {counter}, {self.word()}, 7;")
        self.plain(f"{head}:")
        self.block(2 + self.rng.next() % 4)
        if self.rng.next() % 3 == 0:
            self.plain(f"@{self.pred()} bra {end};")
        self.plain(f"sub.s32 {counter}, {counter}, 1;")
        self.plain(f"setp.ge.s32 %pc, {counter}, 0;")
        self.plain(f"@%pc bra {head};")
        self.plain(f"{end}:")

    def exchange(self):
        """All threads of the block are here."""
        kind = self.rng.next() % 4
        target, source = self.word(), self.word()
        if kind == 0:
            mode = self.pick(("bfly", "down", "idx", "up"))
            clamp = 0 if mode == "up" else 31
            self.plain(f"shfl.sync.{mode}.b32 {target}, {source}, "
                       f"{self.rng.next() % 32}, {clamp}, -1;")
        elif kind == 1:
            self.plain(f"vote.sync.ballot.b32 {target}, {self.pred()}, -1;")
        elif kind == 2:
            self.plain(f"redux.sync.{self.pick(('add', 'max'))}.s32 "
                       f"{target}, {source}, -1;")
        else:
            self.plain("mad.lo.u32 %n, %i, 4, 0;")
            self.plain("mov.u32 %t, mem;")
            self.plain("add.u32 %n, %n, %t;")
            self.plain(f"st.shared.b32 [%n], {source};")
            self.plain("bar.sync 0;")
            self.plain(f"xor.b32 %n, %i, {1 + self.rng.next() % 63};")
            self.plain("mad.lo.u32 %n, %n, 4, %t;")
            self.plain(f"ld.shared.b32 {target}, [%n];")
            self.plain("bar.sync 0;")


class WildProgram(Program):
    """Adds switches, local and gathered memory, narrow types, calls and
    shared atomics. Not recorded: for comparing configurations."""

    def statement(self):
        kind = self.rng.next() % 24
        if kind == 0 and self.depth < 3:
            self.switch()
        elif kind == 1:
            self.local()
        elif kind == 2:
            self.gather()
        elif kind == 3:
            self.narrow()
        elif kind == 4:
            function = self.pick(("mix", "walk"))
            self.plain(f"call ({self.word()}), {function}, ({self.word()}, "
                       f"{self.word()});")
        elif kind == 5:
            self.at_word(f"red.shared.add.u32 [%n], {self.word()};")
        elif kind == 6 and self.depth == 0:
            self.plain("bar.sync 0;")
            self.at_word(f"ld.shared.u32 {self.word()}, [%n];")
            self.plain("bar.sync 0;")
        elif kind == 7:
            self.partial_vote()
        else:
            super().statement()

    def at_word(self, text):
        """%n = the address of a word of shared memory."""
        self.plain(f"and.b32 %n, {self.word()}, 63;")
        self.plain("mov.u32 %t, counters;")
        self.plain("mad.lo.u32 %n, %n, 4, %t;")
        self.plain(text)

    def switch(self):
        labels = [self.label() for _ in range(3)]
        end, table = self.label(), self.label()
        self.plain(f"rem.u32 %n, {self.word()}, 4;")
        self.plain(f"{table}: .branchtargets {labels[0]}, {labels[1]}, "
                   f"{labels[2]}, {labels[0]};")
        self.plain(f"brx.idx %n, {table};")
        for label in labels:
            self.plain(f"{label}:")
            self.block(1 + self.rng.next() % 3)
            if self.rng.next() % 4:
                self.plain(f"bra {end};")
        self.plain(f"{end}:")

    def local(self):
        self.plain(f"and.b32 %n, {self.word()}, 7;")
        self.plain("mov.u64 %address, scratch;")
        self.plain("mad.wide.u32 %address, %n, 4, %address;")
        if self.rng.next() % 2:
            self.emit(f"st.local.b32 [%address], {self.word()};")
        else:
            self.emit(f"ld.local.b32 {self.word()}, [%address];")

    def gather(self):
        type_ = self.pick(("u8", "s8", "u16", "s16", "u32"))
        mask = {"8": 1023, "6": 1022, "2": 1020}[type_[-1]]
        self.plain(f"and.b32 %n, {self.word()}, {mask};")
        self.plain("ld.param.u64 %address, [a];")
        self.plain("mad.wide.u32 %address, %n, 1, %address;")
        self.emit(f"ld.global.{type_} {self.word()}, [%address];")

    def narrow(self):
        op = self.pick(("add.s16", "mul.lo.s16", "min.s16", "shr.u16",
                        "xor.b16", "mul.hi.u16", "shl.b16"))
        first, second = self.word(), self.word()
        self.plain(f"cvt.u16.u32 %h0, {first};")
        self.plain(f"cvt.s16.s32 %h1, {second};" if op[0:3] != "sh"
                   else f"mov.b16 %h1, %h0;")
        if op.startswith("sh"):
            self.plain(f"{op} %h0, %h1, {second};")
        else:
            self.plain(f"{op} %h0, %h0, %h1;")
        self.emit(f"cvt.{self.pick(('u32.u16', 's32.s16', 'u32.u8'))} "
                  f"{self.word()}, %h0;")

    def partial_vote(self):
        """Lanes that took the branch vote among themselves."""
        end = self.label()
        self.plain(f"vote.sync.ballot.b32 %n, {self.pred()}, -1;"
                   if self.depth == 0 else "mov.u32 %n, 0;")
        if self.depth == 0:
            chosen = self.lines[-1].split("%p")[1][0]
            self.plain(f"@!%p{chosen} bra {end};")
            self.plain(f"shfl.sync.idx.b32 {self.word()}, {self.word()}, "
                       "%laneid_word, 31, %n;")
            self.plain(f"{end}:")


WILD_FUNCTIONS = """.func (.reg .b32 %y) mix(.reg .b32 %x, .reg .b32 %k)
{
  .reg .pred %p;
  setp.lt.s32 %p, %x, %k;
  @%p bra less;
  mad.lo.u32 %y, %x, 5, %k;
  ret;
less:
  xor.b32 %y, %x, %k;
  ret;
}
.func (.reg .b32 %y) walk(.reg .b32 %x, .reg .b32 %k)
{
  .reg .pred %p;
  .reg .b32 %n, %z;
  mov.u32 %y, %k;
  and.b32 %n, %x, 3;
  setp.eq.u32 %p, %n, 0;
  @%p bra done;
  shr.u32 %z, %x, 2;
  call (%y), walk, (%z, %k);
  add.u32 %y, %y, %n;
done:
  ret;
}
"""

WILD_HEAD = f""".reg .b16 %h<2>;
.reg .b32 %laneid_word;
.local .align 4 .b32 scratch[8];
.shared .align 4 .b32 counters[{THREADS}];
mov.u32 %laneid_word, %laneid;
mov.u32 %t, counters;
mad.lo.u32 %n, %i, 4, %t;
st.shared.u32 [%n], %i;
""" + "".join(f"st.local.u32 [scratch+{4 * k}], %i;\n" for k in range(8)) + (
    "bar.sync 0;\n")


def generate(suite):
    for number in range(COUNT):
        add_program(suite, number)


def add_program(suite, number, wild=False):
    """Program `number` of an endless series."""
    program = WildProgram(number) if wild else Program(number)
    for _ in range(14 + number % 16):
        program.statement()
    body = PROLOGUE.replace("%p;", "%address;") + f"""
.reg .b32 %w<{WORDS}>, %c<3>, %d;
.reg .b64 %q<{LONGS}>, %e;
.reg .pred %p<3>, %pn, %pc;
.shared .align 4 .b32 mem[{THREADS}];
ld.param.u64 %address, [a];
"""
    body += f"mad.wide.u32 %address, %i, {4 * WORDS}, %address;\n"
    for k in range(WORDS):
        body += f"ld.global.b32 %w{k}, [%address+{4 * k}];\n"
    for k in range(LONGS):
        body += f"mov.b64 %q{k}, {{%w{2 * k % WORDS}, %w{7 - k}}};\n"
    for k in range(3):
        body += f"setp.lt.s32 %p{k}, %w{k}, %w{k + 3};\n"
    body += (WILD_HEAD if wild else "") + "\n".join(program.lines) + "\n"
    body += "mov.u32 %d, 0;\nmov.b64 %e, 0;\n"
    for k in range(WORDS):
        body += f"mad.lo.u32 %d, %d, 31, %w{k};\n"
    for k in range(LONGS):
        body += f"mul.lo.u64 %e, %e, 31;\nadd.u64 %e, %e, %q{k};\n"
    for k in range(3):
        body += f"selp.u32 %t, {1 << k}, 0, %p{k};\nxor.b32 %d, %d, %t;\n"
    tail = store_output("d", "b32") + store_output("e", "b64")
    for end in (",", ";", "]"):
        tail = tail.replace("%p" + end, "%address" + end)
    body += tail
    stem = f"program.{number:03d}"
    free(suite, "bra", [buffer_in(suite, "a", "b32", THREADS * WORDS),
                        buffer_out("d", "b32", THREADS),
                        buffer_out("e", "b64", THREADS)],
         body, block=(THREADS, 1, 1), sm=80, stem=stem,
         decls=WILD_FUNCTIONS if wild else "",
         note="a random program; d and e fold its registers")
