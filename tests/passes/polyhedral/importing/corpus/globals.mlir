memref.global "private" constant @weights : memref<3xf32> = dense<[2.500000e-01, 5.000000e-01, 2.500000e-01]>
func.func @constant_weights(%A: memref<10xf32>, %B: memref<8xf32>) {
  %w = memref.get_global @weights : memref<3xf32>
  linalg.conv_1d ins(%A, %w : memref<10xf32>, memref<3xf32>) outs(%B : memref<8xf32>)
  return
}
// -----
memref.global "private" constant @__constant_4x4xf32 : memref<4x4xf32> = dense<1.500000e+00> {alignment = 64 : i64}
func.func @splat(%A: memref<4x4xf32>) {
  %w = memref.get_global @__constant_4x4xf32 : memref<4x4xf32>
  linalg.add ins(%A, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%A : memref<4x4xf32>)
  return
}
// -----
memref.global "private" @scratch : memref<8xf64> = uninitialized
func.func @scratch_memory(%A: memref<8xf64>, %B: memref<8xf64>) {
  %t = memref.get_global @scratch : memref<8xf64>
  affine.for %i = 0 to 8 {
    %0 = affine.load %A[%i] : memref<8xf64>
    affine.store %0, %t[%i] : memref<8xf64>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %t[7 - %i] : memref<8xf64>
    affine.store %0, %B[%i] : memref<8xf64>
  }
  return
}
// -----
memref.global "private" constant @table : memref<2x2xi32> = dense<[[1, 2], [3, 4]]>
func.func @integers(%A: memref<2x2xi32>) {
  %w = memref.get_global @table : memref<2x2xi32>
  linalg.mul ins(%A, %w : memref<2x2xi32>, memref<2x2xi32>) outs(%A : memref<2x2xi32>)
  return
}
