// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

// CHECK-LABEL: func.func @functions
func.func @functions(%a: index, %b: index, %c: index) {
  // CHECK-NEXT: %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 - 1)>(%a)[%b]
  %0 = affine.apply affine_map<(i)[n] -> (i + n - 1)> (%a)[%b]
  // CHECK-NEXT: %1 = affine.apply affine_map<() -> (42)>() {tag}
  %1 = affine.apply affine_map<() -> (42)>() {tag}
  // CHECK-NEXT: %2 = affine.min affine_map<(d0)[s0] -> (1000, d0 + 512, s0)>(%a)[%b]
  %2 = affine.min affine_map<(d0)[s0] -> (1000, d0 + 512, s0)>(%a)[%b]
  // CHECK-NEXT: %3 = affine.min affine_map<(d0, d1)[s0] -> (d0 - d1, s0 + 512)>(%a, %b)[%c] {tag}
  %3 = affine.min affine_map<(d0, d1)[s0] -> (d0 - d1, s0 + 512)>(%a, %b)[%c] {tag}
  // CHECK-NEXT: %4 = affine.max affine_map<()[s0, s1] -> (s0 - s1, 11)>()[%b, %c]
  %4 = affine.max affine_map<()[s0, s1] -> (s0 - s1, 11)>()[%b, %c]
  // CHECK-NEXT: %5 = affine.max affine_map<() -> (77, 78, 79)>() {tag}
  %5 = affine.max affine_map<()[] -> (77, 78, 79)>()[] {tag}
  // CHECK-NEXT: %6, %7 = affine.delinearize_index %a into (4, %b) : index, index
  %6:2 = affine.delinearize_index %a into (4, %b) : index, index
  // CHECK-NEXT: %8, %9, %10 = affine.delinearize_index %7 into (4, 5) {tag} : index, index, index
  %7:3 = affine.delinearize_index %6#1 into (4, 5) {tag} : index, index, index
  // CHECK-NEXT: %11 = affine.linearize_index disjoint [%6, %9] by (%b, 4) : index
  %8 = affine.linearize_index disjoint [%6#0, %7#1] by (%b, 4) : index
  // CHECK-NEXT: %12 = affine.linearize_index [%6, %9] by (3) {tag} : index
  %9 = affine.linearize_index [%6#0, %7#1] by (3) {tag} : index
  return
}
