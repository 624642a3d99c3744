// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

// What surrounds functions: aliases, attributes, declarations, locations (which are dropped).

#map = affine_map<(d0) -> (d0 + 1)>
!row = memref<?x8xf64>

// CHECK:      builtin.module @outer {
// CHECK-NEXT: builtin.module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.endianness" = "little", i64 = dense<64> : vector<2xi32>>, llvm.data_layout = "e-m:e"} {
builtin.module @outer {
module attributes {dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<"dlti.endianness", "little">, #dlti.dl_entry<i64, dense<64> : vector<2xi32>>>, llvm.data_layout = "e-m:e"} {
  // CHECK-NEXT: func.func private @sin(f64) -> f64 attributes {llvm.linkage = #llvm.linkage<"external">}
  func.func private @sin(f64) -> f64 attributes {llvm.linkage = #llvm.linkage<external>}
  // CHECK-NEXT: func.func @f(%A: memref<?x8xf64> {llvm.noalias}, %x: f64) -> f64 {
  func.func @f(%A: !row {llvm.noalias} loc("f.c":1:7), %x: f64 loc(unknown)) -> f64 {
    // CHECK-NEXT: %c-1 = arith.constant -1 : index
    %c-1 = arith.constant -1 : index loc(#loc3)
    // CHECK-NEXT: %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%c-1)
    %0 = affine.apply #map(%c-1) loc("somewhere"(#loc))
    // CHECK-NEXT: %1 = func.call @sin(%x) : (f64) -> f64
    %1 = call @sin(%x) : (f64) -> f64 loc(#loc2)
    // CHECK-NEXT: func.return %1 : f64
    return %1 : f64 loc(callsite("a" at "b.c":1:2))
  } loc(#loc)
}
} loc(#loc)
#loc = loc("f.c":1:1)
#loc1 = loc("f.c":2:3)
#loc2 = loc(fused<"x">[#loc1, "name"(#loc)])
#loc3 = loc("c"(#loc2))
