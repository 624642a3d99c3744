// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

// CHECK-LABEL: func.func @vectors
func.func @vectors(%A: memref<?x?xf64>, %i: index, %x: f64) -> f64 {
  // CHECK-NEXT: %0 = vector.step : vector<8xindex>
  %0 = vector.step : vector<8xindex>
  // CHECK-NEXT: %1 = vector.constant_mask [3] : vector<8xi1>
  %1 = vector.constant_mask [3] : vector<8xi1>
  // CHECK-NEXT: %2 = vector.create_mask %i : vector<8xi1>
  %2 = vector.create_mask %i : vector<8xi1>
  // CHECK-NEXT: %3 = vector.broadcast %x : f64 to vector<8xf64>
  %3 = vector.broadcast %x : f64 to vector<8xf64>
  // CHECK-NEXT: %4 = vector.gather %A[%i, %i] [%0], %1, %3 : memref<?x?xf64>, vector<8xindex>, vector<8xi1>, vector<8xf64> into vector<8xf64>
  %4 = vector.gather %A[%i, %i] [%0], %1, %3 : memref<?x?xf64>, vector<8xindex>, vector<8xi1>, vector<8xf64> into vector<8xf64>
  // CHECK-NEXT: vector.scatter %A[%i, %i] [%0], %2, %4 {tag} : memref<?x?xf64>, vector<8xindex>, vector<8xi1>, vector<8xf64>
  vector.scatter %A[%i, %i] [%0], %2, %4 {tag} : memref<?x?xf64>, vector<8xindex>, vector<8xi1>, vector<8xf64>
  // CHECK-NEXT: %5 = vector.maskedload %A[%i, %i], %1, %4 : memref<?x?xf64>, vector<8xi1>, vector<8xf64> into vector<8xf64>
  %5 = vector.maskedload %A[%i, %i], %1, %4 : memref<?x?xf64>, vector<8xi1>, vector<8xf64> into vector<8xf64>
  // CHECK-NEXT: vector.maskedstore %A[%i, %i], %1, %5 : memref<?x?xf64>, vector<8xi1>, vector<8xf64>
  vector.maskedstore %A[%i, %i], %1, %5 : memref<?x?xf64>, vector<8xi1>, vector<8xf64>
  // CHECK-NEXT: %6 = vector.fma %3, %4, %5 : vector<8xf64>
  %6 = vector.fma %3, %4, %5 : vector<8xf64>
  // CHECK-NEXT: %7 = arith.addf %6, %5 fastmath<reassoc> : vector<8xf64>
  %7 = arith.addf %6, %5 fastmath<reassoc> : vector<8xf64>
  // CHECK-NEXT: %8 = vector.reduction <add>, %7, %x : vector<8xf64> into f64
  %8 = vector.reduction <add>, %7, %x : vector<8xf64> into f64
  // The bits of floating-point numbers survive in dense constants.
  // CHECK-NEXT: %c = arith.constant dense<0xfff0000000000000> : vector<8xf64>
  %c = arith.constant dense<0xFFF0000000000000> : vector<8xf64>
  // CHECK-NEXT: %d = arith.constant dense<[0x7fc00000, 1.000000e+00]> : vector<2xf32>
  %d = arith.constant dense<[0x7FC00000, 1.0]> : vector<2xf32>
  return %8 : f64
}
