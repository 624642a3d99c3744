"""Lookup of the OpenMP runtime when a library runs: LLVM IR that stands in for libgomp.

The library defines the runtime's functions itself, hidden from others. The first parallel region
looks for a runtime: one that the program has already, else the system's libgomp or libomp. Without
any, parallel loops run in the calling thread. A caller may name another runtime before.
"""

from __future__ import annotations

from ..jit.parallel_after_forks import PARALLEL_AFTER_FORKS

_NAMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")
"""Runtimes that have libgomp's entry points."""

_NOW, _NOLOAD = 2, 4
"""RTLD_NOW, RTLD_NOLOAD."""

# `known` is 1 once the addresses are there; all threads that look find the same.
_LOOKUP = """
declare extern_weak ptr @dlopen(ptr, i32)
declare extern_weak ptr @dlsym(ptr, ptr)
declare extern_weak i32 @__register_atfork(ptr, ptr, ptr, ptr)
@known = internal global i32 0
@parallel = internal global ptr null
@thread_number = internal global ptr null
@team_size = internal global ptr null
@name_parallel = internal constant [14 x i8] c"GOMP_parallel\\00"
@name_thread_number = internal constant [19 x i8] c"omp_get_thread_num\\00"
@name_team_size = internal constant [20 x i8] c"omp_get_num_threads\\00"
define void @"{USE}"(ptr %parallel, ptr %thread_number, ptr %team_size) {
  store ptr %thread_number, ptr @thread_number
  store ptr %team_size, ptr @team_size
  store ptr %parallel, ptr @parallel
  %none = icmp eq ptr %parallel, null
  %has_hook = icmp ne ptr @__register_atfork, null
  %has_threads = icmp ne ptr @pthread_create, null
  %can = and i1 %has_hook, %has_threads
  %may = xor i1 %none, true
  %needs = and i1 %can, %may
  br i1 %needs, label %hook, label %done
hook:
  %status = call i32 @__register_atfork(ptr null, ptr null, ptr @loopwright_forked, ptr null)
  br label %done
done:
  store atomic i32 1, ptr @known release, align 4
  ret void
}
define internal i1 @take(ptr %handle) noinline {
  %a = call ptr @dlsym(ptr %handle, ptr @name_parallel)
  %b = call ptr @dlsym(ptr %handle, ptr @name_thread_number)
  %c = call ptr @dlsym(ptr %handle, ptr @name_team_size)
  %no_a = icmp eq ptr %a, null
  %no_b = icmp eq ptr %b, null
  %no_c = icmp eq ptr %c, null
  %no_ab = or i1 %no_a, %no_b
  %no = or i1 %no_ab, %no_c
  br i1 %no, label %missing, label %found
missing:
  ret i1 false
found:
  call void @"{USE}"(ptr %a, ptr %b, ptr %c)
  ret i1 true
}
define internal i1 @open(ptr %name, i32 %mode) noinline {
  %handle = call ptr @dlopen(ptr %name, i32 %mode)
  %missing = icmp eq ptr %handle, null
  br i1 %missing, label %no, label %try
no:
  ret i1 false
try:
  %taken = call i1 @take(ptr %handle)
  ret i1 %taken
}
define internal void @find() noinline {
  %has_open = icmp ne ptr @dlopen, null
  %has_look = icmp ne ptr @dlsym, null
  %can = and i1 %has_open, %has_look
  br i1 %can, label %program, label %without
program:
  %taken0 = call i1 @take(ptr null)
{TRIALS}
without:
  call void @"{USE}"(ptr null, ptr null, ptr null)
  ret void
finished:
  ret void
}
define internal void @real_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags) {
  %code = load ptr, ptr @parallel
  call void %code(ptr %function, ptr %data, i32 %threads, i32 %flags)
  ret void
}
define void @GOMP_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags) {
  %state = load atomic i32, ptr @known acquire, align 4
  %is_known = icmp ne i32 %state, 0
  br i1 %is_known, label %known_now, label %look
look:
  call void @find()
  br label %known_now
known_now:
  %code = load ptr, ptr @parallel
  %none = icmp eq ptr %code, null
  br i1 %none, label %alone, label %team
alone:
  call void %function(ptr %data)
  ret void
team:
  call void @loopwright_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags)
  ret void
}
define i32 @omp_get_thread_num() {
  %code = load ptr, ptr @thread_number
  %none = icmp eq ptr %code, null
  br i1 %none, label %alone, label %team
alone:
  ret i32 0
team:
  %number = call i32 %code()
  ret i32 %number
}
define i32 @omp_get_num_threads() {
  %code = load ptr, ptr @team_size
  %none = icmp eq ptr %code, null
  br i1 %none, label %alone, label %team
alone:
  ret i32 1
team:
  %number = call i32 %code()
  ret i32 %number
}
"""


def openmp_ir(use: str) -> str:
    """LLVM IR of the runtime's functions, and of `use`, by which a caller gives its own."""
    trials = [(name, mode) for mode in (_NOW | _NOLOAD, _NOW) for name in _NAMES]
    names = [
        f'@library{number} = internal constant [{len(name) + 1} x i8] c"{name}\\00"'
        for number, name in enumerate(_NAMES)
    ]
    lines: list[str] = []
    for number, (name, mode) in enumerate(trials):
        lines += [
            f"  br i1 %taken{number}, label %finished, label %try{number}",
            f"try{number}:",
            f"  %taken{number + 1} = call i1 @open(ptr @library{_NAMES.index(name)}, i32 {mode})",
        ]
    lines.append(f"  br i1 %taken{len(trials)}, label %finished, label %without")
    lookup = _LOOKUP.replace("{USE}", use).replace("{TRIALS}", "\n".join(lines))
    # Where glibc is older than 2.34, a program need not have the library of threads.
    after_forks = PARALLEL_AFTER_FORKS.replace(
        "declare void @real_parallel(ptr, ptr, i32, i32)\n", ""
    ).replace("declare i32 @pthread_", "declare extern_weak i32 @pthread_")
    after_forks = after_forks.replace("define void", "define internal void")
    after_forks = after_forks.replace("@forked = global", "@forked = internal global")
    return "\n".join([*names, after_forks, lookup])
