"""Parallel regions in children of forks: LLVM IR around libgomp's entry point."""

# libgomp keeps a pool of threads for each thread that begins a parallel region. That of a forking
# thread has threads that the child does not have, and its next region would wait for them for ever:
# in the child, a new thread begins each of its regions, with a pool of its own.
PARALLEL_AFTER_FORKS = """
@forked = global i64 0
declare i64 @pthread_self()
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare void @real_parallel(ptr, ptr, i32, i32)
define void @loopwright_forked() nounwind {
  %self = call i64 @pthread_self()
  store i64 %self, ptr @forked
  ret void
}
define internal ptr @begin(ptr %region) nounwind {
  %function = load ptr, ptr %region
  %second = getelementptr i8, ptr %region, i64 8
  %data = load ptr, ptr %second
  %third = getelementptr i8, ptr %region, i64 16
  %threads = load i32, ptr %third
  %fourth = getelementptr i8, ptr %region, i64 20
  %flags = load i32, ptr %fourth
  call void @real_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags)
  ret ptr null
}
define void @loopwright_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags) nounwind {
  %fork = load i64, ptr @forked
  %no_fork = icmp eq i64 %fork, 0
  br i1 %no_fork, label %here, label %ask
ask:
  %self = call i64 @pthread_self()
  %is_forked = icmp eq i64 %fork, %self
  br i1 %is_forked, label %other, label %here
here:
  call void @real_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags)
  ret void
other:
  %region = alloca [24 x i8], align 8
  %thread = alloca i64
  store ptr %function, ptr %region
  %second = getelementptr i8, ptr %region, i64 8
  store ptr %data, ptr %second
  %third = getelementptr i8, ptr %region, i64 16
  store i32 %threads, ptr %third
  %fourth = getelementptr i8, ptr %region, i64 20
  store i32 %flags, ptr %fourth
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @begin, ptr %region)
  %has_failed = icmp ne i32 %failed, 0
  br i1 %has_failed, label %alone, label %wait
wait:
  %id = load i64, ptr %thread
  call i32 @pthread_join(i64 %id, ptr null)
  ret void
alone:
  call void @real_parallel(ptr %function, ptr %data, i32 1, i32 %flags)
  ret void
}
"""
"""LLVM IR of `loopwright_parallel`, which calls `real_parallel`.

`loopwright_forked` is to be called in children of forks.
"""
