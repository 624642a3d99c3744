func.func @matmul(%A: tensor<4x6xf32>, %B: tensor<6x5xf32>) -> tensor<4x5xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<4x5xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = linalg.matmul ins(%A, %B : tensor<4x6xf32>, tensor<6x5xf32>) outs(%1 : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}
// -----
func.func @accumulate(%A: tensor<4x6xf32>, %B: tensor<6x5xf32>, %C: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.matmul ins(%A, %B : tensor<4x6xf32>, tensor<6x5xf32>) outs(%C : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
// -----
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
func.func @layer(%arg0: tensor<4x6xf32>, %arg1: tensor<6x5xf32>, %arg2: tensor<5xf32>) -> tensor<4x5xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<4x5xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = linalg.matmul ins(%arg0, %arg1 : tensor<4x6xf32>, tensor<6x5xf32>) outs(%1 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<4x5xf32>, tensor<5xf32>) outs(%0 : tensor<4x5xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.addf %in, %in_0 : f32
    %5 = arith.cmpf ugt, %4, %cst : f32
    %6 = arith.select %5, %4, %cst : f32
    linalg.yield %6 : f32
  } -> tensor<4x5xf32>
  return %3 : tensor<4x5xf32>
}
// -----
func.func @softmax(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce { arith.maximumf } ins(%arg0 : tensor<4x8xf32>) outs(%m0 : tensor<4xf32>) dimensions = [1]
  %f = tensor.empty() : tensor<4x8xf32>
  %mb = linalg.broadcast ins(%m : tensor<4xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  %d = linalg.sub ins(%arg0, %mb : tensor<4x8xf32>, tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %x = linalg.exp ins(%d : tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%s0 : tensor<4xf32>) dimensions = [1]
  %sb = linalg.broadcast ins(%s : tensor<4xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  %r = linalg.div ins(%x, %sb : tensor<4x8xf32>, tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
// -----
func.func @dynamic(%A: tensor<?x?xf64>, %B: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cst = arith.constant 0.000000e+00 : f64
  %m = tensor.dim %A, %c0 : tensor<?x?xf64>
  %n = tensor.dim %B, %c1 : tensor<?x?xf64>
  %0 = tensor.empty(%m, %n) : tensor<?x?xf64>
  %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = linalg.matmul ins(%A, %B : tensor<?x?xf64>, tensor<?x?xf64>) outs(%1 : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}
// -----
func.func @constant(%A: tensor<4xf32>) -> tensor<4xf32> {
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.mul ins(%A, %w : tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
func.func @constant_splat(%A: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = arith.constant dense<2.0> : tensor<4x4xf32>
  %0 = linalg.add ins(%A, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%A : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// -----
func.func @slices(%A: tensor<8x8xf32>, %B: tensor<4x4xf32>) -> tensor<8x8xf32> {
  %s = tensor.extract_slice %A[2, 2] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  %0 = linalg.add ins(%s, %B : tensor<4x4xf32>, tensor<4x4xf32>) outs(%s : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tensor.insert_slice %0 into %A[1, 0] [4, 4] [1, 2] : tensor<4x4xf32> into tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// -----
func.func @tiled(%A: tensor<8x8xf32>, %B: tensor<8x8xf32>, %C: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c4 iter_args(%acc = %C) -> (tensor<8x8xf32>) {
    %a = tensor.extract_slice %A[%i, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
    %c = tensor.extract_slice %acc[%i, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
    %0 = linalg.matmul ins(%a, %B : tensor<4x8xf32>, tensor<8x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = tensor.insert_slice %0 into %acc[%i, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
    scf.yield %1 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}
// -----
func.func @elements(%A: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %A) -> (tensor<8xf32>) {
    %0 = tensor.extract %t[%i] : tensor<8xf32>
    %1 = arith.addf %0, %0 : f32
    %2 = tensor.insert %1 into %t[%i] : tensor<8xf32>
    scf.yield %2 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// -----
func.func @reshapes(%A: tensor<4x6xf32>) -> tensor<2x12xf32> {
  %0 = tensor.collapse_shape %A [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 12] : tensor<24xf32> into tensor<2x12xf32>
  return %1 : tensor<2x12xf32>
}
// -----
func.func @pad(%A: tensor<4x6xf32>) -> tensor<6x9xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.pad %A low[1, 1] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %cst : f32
  } : tensor<4x6xf32> to tensor<6x9xf32>
  return %0 : tensor<6x9xf32>
}
// -----
// by hand
func.func @generate(%n: index) -> tensor<?xi32> {
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    %1 = arith.index_cast %i : index to i32
    tensor.yield %1 : i32
  } : tensor<?xi32>
  return %0 : tensor<?xi32>
}
// -----
func.func @from_elements(%x: f32, %y: f32) -> tensor<2xf32> {
  %0 = tensor.from_elements %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @splat(%x: f32) -> tensor<4xf32> {
  %0 = tensor.splat %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @concat(%A: tensor<2x4xf32>, %B: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %0 = tensor.concat dim(0) %A, %B : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}
// -----
func.func @cast(%A: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.cast %A : tensor<4xf32> to tensor<?xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %0, %c0 : tensor<?xf32>
  %1 = tensor.empty(%n) : tensor<?xf32>
  %2 = linalg.exp ins(%0 : tensor<?xf32>) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
  %3 = tensor.cast %2 : tensor<?xf32> to tensor<4xf32>
  return %3 : tensor<4xf32>
}
// -----
// by hand
func.func @forall(%A: tensor<8x4xf32>, %B: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = scf.forall (%i) in (2) shared_outs(%o = %B) -> (tensor<8x4xf32>) {
    %k = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %a = tensor.extract_slice %A[%k, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
    %b = tensor.extract_slice %o[%k, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
    %0 = linalg.add ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %0 into %o[%k, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
    }
  }
  return %r : tensor<8x4xf32>
}
// -----
func.func @to_tensor(%A: memref<8xf32>, %B: memref<8xf32>) {
  %0 = bufferization.to_tensor %A restrict : memref<8xf32> to tensor<8xf32>
  %1 = tensor.empty() : tensor<8xf32>
  %2 = linalg.exp ins(%0 : tensor<8xf32>) outs(%1 : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %2 in writable %B : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}
// -----
func.func @to_buffer(%A: tensor<8xf32>, %B: memref<8xf32>) {
  %0 = bufferization.to_buffer %A : tensor<8xf32> to memref<8xf32>
  memref.copy %0, %B : memref<8xf32> to memref<8xf32>
  return
}
// -----
func.func @scalar_result(%A: tensor<8xf32>) -> f32 {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<f32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<f32>) -> tensor<f32>
  %2 = linalg.dot ins(%A, %A : tensor<8xf32>, tensor<8xf32>) outs(%1 : tensor<f32>) -> tensor<f32>
  %3 = tensor.extract %2[] : tensor<f32>
  return %3 : f32
}
// -----
func.func @conditional(%A: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %c = arith.cmpi slt, %n, %c4 : index
  %r = scf.if %c -> (tensor<8xf32>) {
    %0 = linalg.exp ins(%A : tensor<8xf32>) outs(%A : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  } else {
    scf.yield %A : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// -----
func.func @elementwise_arith(%A: tensor<8xf32>, %B: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.addf %A, %B : tensor<8xf32>
  %1 = math.exp %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
