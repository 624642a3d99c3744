func.func @subview_copy(%A: memref<16x16xf32>, %B: memref<4x4xf32>) {
  %v = memref.subview %A[2, 3] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: 35>>
  memref.copy %v, %B : memref<4x4xf32, strided<[16, 1], offset: 35>> to memref<4x4xf32>
  return
}
// -----
func.func @tiled_matmul(%A: memref<8x8xf32>, %B: memref<8x8xf32>, %C: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c4 {
    scf.for %j = %c0 to %c8 step %c4 {
      scf.for %k = %c0 to %c8 step %c4 {
        %a = memref.subview %A[%i, %k] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: ?>>
        %b = memref.subview %B[%k, %j] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: ?>>
        %c = memref.subview %C[%i, %j] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: ?>>
        linalg.matmul ins(%a, %b : memref<4x4xf32, strided<[8, 1], offset: ?>>, memref<4x4xf32, strided<[8, 1], offset: ?>>) outs(%c : memref<4x4xf32, strided<[8, 1], offset: ?>>)
      }
    }
  }
  return
}
// -----
#map = affine_map<(d0)[s0] -> (4, -d0 + s0)>
func.func @partial_tiles(%A: memref<?xf64>, %B: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %A, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c4 {
    %s = affine.min #map(%i)[%n]
    %a = memref.subview %A[%i] [%s] [1] : memref<?xf64> to memref<?xf64, strided<[1], offset: ?>>
    %b = memref.subview %B[%i] [%s] [1] : memref<?xf64> to memref<?xf64, strided<[1], offset: ?>>
    linalg.add ins(%a, %b : memref<?xf64, strided<[1], offset: ?>>, memref<?xf64, strided<[1], offset: ?>>) outs(%b : memref<?xf64, strided<[1], offset: ?>>)
  }
  return
}
// -----
func.func @strided_subview(%A: memref<16xf32>, %x: f32) {
  %v = memref.subview %A[1] [5] [3] : memref<16xf32> to memref<5xf32, strided<[3], offset: 1>>
  affine.for %i = 0 to 5 {
    affine.store %x, %v[%i] : memref<5xf32, strided<[3], offset: 1>>
  }
  return
}
// -----
func.func @rank_reducing(%A: memref<4x8x6xf64>, %B: memref<6xf64>) {
  affine.for %i = 0 to 8 {
    %v = memref.subview %A[2, %i, 0] [1, 1, 6] [1, 1, 1] : memref<4x8x6xf64> to memref<6xf64, strided<[1], offset: ?>>
    affine.for %j = 0 to 6 {
      %0 = affine.load %v[%j] : memref<6xf64, strided<[1], offset: ?>>
      %1 = affine.load %B[%j] : memref<6xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %B[%j] : memref<6xf64>
    }
  }
  return
}
// -----
func.func @subview_of_subview(%A: memref<16x16xf32>, %x: f32) {
  %v = memref.subview %A[4, 4] [8, 8] [1, 1] : memref<16x16xf32> to memref<8x8xf32, strided<[16, 1], offset: 68>>
  %w = memref.subview %v[1, 2] [3, 3] [2, 2] : memref<8x8xf32, strided<[16, 1], offset: 68>> to memref<3x3xf32, strided<[32, 2], offset: 86>>
  linalg.fill ins(%x : f32) outs(%w : memref<3x3xf32, strided<[32, 2], offset: 86>>)
  return
}
// -----
func.func @collapse(%A: memref<4x6xf32>, %B: memref<24xf32>) {
  %v = memref.collapse_shape %A [[0, 1]] : memref<4x6xf32> into memref<24xf32>
  affine.for %i = 0 to 24 {
    %0 = affine.load %v[%i] : memref<24xf32>
    affine.store %0, %B[%i] : memref<24xf32>
  }
  return
}
// -----
func.func @expand(%A: memref<24xf32>, %B: memref<4x6xf32>) {
  %v = memref.expand_shape %A [[0, 1]] output_shape [4, 6] : memref<24xf32> into memref<4x6xf32>
  memref.copy %v, %B : memref<4x6xf32> to memref<4x6xf32>
  return
}
// -----
func.func @expand_unit(%A: memref<4x6xf32>, %B: memref<4x1x6xf32>) {
  %v = memref.expand_shape %A [[0], [1, 2]] output_shape [4, 1, 6] : memref<4x6xf32> into memref<4x1x6xf32>
  memref.copy %v, %B : memref<4x1x6xf32> to memref<4x1x6xf32>
  return
}
// -----
// shapes: 1x5x3 5x3
func.func @collapse_unit_dynamic(%A: memref<1x?x3xf32>, %B: memref<?x3xf32>) {
  %v = memref.collapse_shape %A [[0, 1], [2]] : memref<1x?x3xf32> into memref<?x3xf32>
  memref.copy %v, %B : memref<?x3xf32> to memref<?x3xf32>
  return
}
// -----
// shapes: 32 8x4 -
func.func @expand_dynamic(%A: memref<?xf32>, %B: memref<?x4xf32>, %n: index) {
  %v = memref.expand_shape %A [[0, 1]] output_shape [%n, 4] : memref<?xf32> into memref<?x4xf32>
  memref.copy %v, %B : memref<?x4xf32> to memref<?x4xf32>
  return
}
// -----
func.func @reinterpret_flat(%A: memref<24xf32>, %B: memref<4x6xf32>) {
  %v = memref.reinterpret_cast %A to offset: [0], sizes: [4, 6], strides: [6, 1] : memref<24xf32> to memref<4x6xf32, strided<[6, 1]>>
  memref.copy %v, %B : memref<4x6xf32, strided<[6, 1]>> to memref<4x6xf32>
  return
}
// -----
func.func @reinterpret_transposed(%A: memref<4x6xf32>, %B: memref<6x4xf32>) {
  %v = memref.reinterpret_cast %A to offset: [0], sizes: [6, 4], strides: [1, 6] : memref<4x6xf32> to memref<6x4xf32, strided<[1, 6]>>
  memref.copy %v, %B : memref<6x4xf32, strided<[1, 6]>> to memref<6x4xf32>
  return
}
// -----
// by hand
func.func @reinterpret_unranked(%arg0: memref<*xf32>, %arg1: memref<*xf32>, %arg2: i32) {
  %c64 = arith.constant 64 : index
  %0 = arith.index_cast %arg2 : i32 to index
  %1 = arith.muli %0, %c64 : index
  %a = memref.reinterpret_cast %arg0 to offset: [%1], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %b = memref.reinterpret_cast %arg1 to offset: [%1], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  memref.copy %a, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  return
}
// -----
func.func @dynamic_layout(%A: memref<?x?xf32, strided<[?, ?], offset: ?>>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %n = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %x, %A[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    }
  }
  return
}
// -----
func.func @cast(%A: memref<8xf32>, %B: memref<8xf32>) {
  %a = memref.cast %A : memref<8xf32> to memref<?xf32>
  %b = memref.cast %B : memref<8xf32> to memref<?xf32, strided<[?], offset: ?>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %a[%i] : memref<?xf32>
    memref.store %0, %b[%i] : memref<?xf32, strided<[?], offset: ?>>
  }
  return
}
// -----
func.func @transpose_view(%A: memref<4x6xf32>, %B: memref<6x4xf32>) {
  %t = memref.transpose %A (i, j) -> (j, i) : memref<4x6xf32> to memref<6x4xf32, affine_map<(d0, d1) -> (d1 * 6 + d0)>>
  memref.copy %t, %B : memref<6x4xf32, affine_map<(d0, d1) -> (d1 * 6 + d0)>> to memref<6x4xf32>
  return
}
// -----
func.func @memory_space(%A: memref<8xf32, 1>, %B: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %A[%i] : memref<8xf32, 1>
    affine.store %0, %B[%i] : memref<8xf32>
  }
  return
}
// -----
func.func @dim_of_view(%A: memref<?x?xf32>, %k: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.subview %A[0, 0] [%k, 2] [1, 1] : memref<?x?xf32> to memref<?x2xf32, strided<[?, 1]>>
  %m = memref.dim %v, %c0 : memref<?x2xf32, strided<[?, 1]>>
  scf.for %i = %c0 to %m step %c1 {
    memref.store %x, %v[%i, %c1] : memref<?x2xf32, strided<[?, 1]>>
  }
  return
}
// -----
func.func @assume_alignment(%A: memref<8xf32>, %x: f32) {
  %a = memref.assume_alignment %A, 64 : memref<8xf32>
  affine.for %i = 0 to 8 {
    affine.store %x, %a[%i] : memref<8xf32>
  }
  return
}
