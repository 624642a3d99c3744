func.func @matmul(%A: memref<5x7xf32>, %B: memref<7x6xf32>, %C: memref<5x6xf32>) {
  linalg.matmul ins(%A, %B : memref<5x7xf32>, memref<7x6xf32>) outs(%C : memref<5x6xf32>)
  return
}
// -----
func.func @matmul_dynamic(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  %cst = arith.constant 0.000000e+00 : f64
  linalg.fill ins(%cst : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>) outs(%C : memref<?x?xf64>)
  return
}
// -----
func.func @matmul_transposed(%A: memref<7x5xf32>, %B: memref<6x7xf32>, %C: memref<5x6xf32>) {
  linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%A, %B : memref<7x5xf32>, memref<6x7xf32>) outs(%C : memref<5x6xf32>)
  return
}
// -----
func.func @batch_matmul(%A: memref<2x5x7xf32>, %B: memref<2x7x6xf32>, %C: memref<2x5x6xf32>) {
  linalg.batch_matmul ins(%A, %B : memref<2x5x7xf32>, memref<2x7x6xf32>) outs(%C : memref<2x5x6xf32>)
  return
}
// -----
func.func @batch_reduce_matmul(%A: memref<2x5x7xf32>, %B: memref<2x7x6xf32>, %C: memref<5x6xf32>) {
  linalg.batch_reduce_matmul ins(%A, %B : memref<2x5x7xf32>, memref<2x7x6xf32>) outs(%C : memref<5x6xf32>)
  return
}
// -----
func.func @matvec_and_vecmat(%A: memref<5x7xf64>, %x: memref<7xf64>, %y: memref<5xf64>, %z: memref<7xf64>) {
  linalg.matvec ins(%A, %x : memref<5x7xf64>, memref<7xf64>) outs(%y : memref<5xf64>)
  linalg.vecmat ins(%y, %A : memref<5xf64>, memref<5x7xf64>) outs(%z : memref<7xf64>)
  return
}
// -----
func.func @dot(%x: memref<?xf64>, %y: memref<?xf64>, %s: memref<f64>) {
  linalg.dot ins(%x, %y : memref<?xf64>, memref<?xf64>) outs(%s : memref<f64>)
  return
}
// -----
func.func @mixed_widths(%A: memref<5x7xi8>, %B: memref<7x6xi8>, %C: memref<5x6xi32>) {
  linalg.matmul ins(%A, %B : memref<5x7xi8>, memref<7x6xi8>) outs(%C : memref<5x6xi32>)
  return
}
// -----
func.func @mmt4d(%A: memref<2x3x4x1xf32>, %B: memref<2x3x4x1xf32>, %C: memref<2x2x4x4xf32>) {
  linalg.mmt4d ins(%A, %B : memref<2x3x4x1xf32>, memref<2x3x4x1xf32>) outs(%C : memref<2x2x4x4xf32>)
  return
}
// -----
func.func @conv_1d(%I: memref<12xf32>, %K: memref<3xf32>, %O: memref<10xf32>) {
  linalg.conv_1d ins(%I, %K : memref<12xf32>, memref<3xf32>) outs(%O : memref<10xf32>)
  return
}
// -----
// shapes: 10x10 3x3 8x8
func.func @conv_2d(%I: memref<?x?xf32>, %K: memref<?x?xf32>, %O: memref<?x?xf32>) {
  linalg.conv_2d ins(%I, %K : memref<?x?xf32>, memref<?x?xf32>) outs(%O : memref<?x?xf32>)
  return
}
// -----
func.func @conv_strided(%I: memref<1x9x9x3xf32>, %K: memref<3x3x3x4xf32>, %O: memref<1x4x4x4xf32>) {
  linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%I, %K : memref<1x9x9x3xf32>, memref<3x3x3x4xf32>) outs(%O : memref<1x4x4x4xf32>)
  return
}
// -----
func.func @conv_dilated(%I: memref<2x3x9x8xf32>, %K: memref<4x3x3x2xf32>, %O: memref<2x4x5x7xf32>) {
  linalg.conv_2d_nchw_fchw {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%I, %K : memref<2x3x9x8xf32>, memref<4x3x3x2xf32>) outs(%O : memref<2x4x5x7xf32>)
  return
}
// -----
func.func @conv_3d(%I: memref<1x5x5x5x2xf32>, %K: memref<2x3x3x2x3xf32>, %O: memref<1x4x3x3x3xf32>) {
  linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : vector<3xi64>, strides = dense<1> : vector<3xi64>} ins(%I, %K : memref<1x5x5x5x2xf32>, memref<2x3x3x2x3xf32>) outs(%O : memref<1x4x3x3x3xf32>)
  return
}
// -----
func.func @depthwise(%I: memref<1x8x8x4xf32>, %K: memref<3x3x4xf32>, %O: memref<1x6x6x4xf32>) {
  linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%I, %K : memref<1x8x8x4xf32>, memref<3x3x4xf32>) outs(%O : memref<1x6x6x4xf32>)
  return
}
// -----
func.func @pool_max(%I: memref<1x8x8x4xf32>, %O: memref<1x4x4x4xf32>) {
  %W = memref.alloc() : memref<2x2xf32>
  %cst = arith.constant 0xFF800000 : f32
  linalg.fill ins(%cst : f32) outs(%O : memref<1x4x4x4xf32>)
  linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%I, %W : memref<1x8x8x4xf32>, memref<2x2xf32>) outs(%O : memref<1x4x4x4xf32>)
  memref.dealloc %W : memref<2x2xf32>
  return
}
// -----
func.func @pool_sum(%I: memref<1x4x8x8xf32>, %W: memref<3x3xf32>, %O: memref<1x4x6x6xf32>) {
  linalg.pooling_nchw_sum ins(%I, %W : memref<1x4x8x8xf32>, memref<3x3xf32>) outs(%O : memref<1x4x6x6xf32>)
  return
}
// -----
func.func @pool_min_integers(%I: memref<1x8x8x2xi32>, %W: memref<2x2xi32>, %O: memref<1x7x7x2xi32>) {
  linalg.pooling_nhwc_min ins(%I, %W : memref<1x8x8x2xi32>, memref<2x2xi32>) outs(%O : memref<1x7x7x2xi32>)
  return
}
// -----
func.func @elementwise(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.add ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  linalg.mul ins(%C, %A : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  linalg.sub ins(%C, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  linalg.max ins(%C, %A : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}
// -----
func.func @unary(%A: memref<16xf32>, %B: memref<16xf32>) {
  linalg.exp ins(%A : memref<16xf32>) outs(%B : memref<16xf32>)
  linalg.sqrt ins(%B : memref<16xf32>) outs(%B : memref<16xf32>)
  linalg.negf ins(%B : memref<16xf32>) outs(%B : memref<16xf32>)
  linalg.abs ins(%B : memref<16xf32>) outs(%B : memref<16xf32>)
  linalg.tanh ins(%B : memref<16xf32>) outs(%B : memref<16xf32>)
  linalg.floor ins(%A : memref<16xf32>) outs(%A : memref<16xf32>)
  return
}
// -----
func.func @integers(%A: memref<16xi32>, %B: memref<16xi32>, %C: memref<16xi32>) {
  linalg.add ins(%A, %B : memref<16xi32>, memref<16xi32>) outs(%C : memref<16xi32>)
  linalg.max ins(%C, %B : memref<16xi32>, memref<16xi32>) outs(%C : memref<16xi32>)
  linalg.mul ins(%C, %A : memref<16xi32>, memref<16xi32>) outs(%C : memref<16xi32>)
  return
}
// -----
func.func @copy(%A: memref<4x?xf64>, %B: memref<4x?xf64>) {
  linalg.copy ins(%A : memref<4x?xf64>) outs(%B : memref<4x?xf64>)
  return
}
// -----
func.func @transpose(%A: memref<4x6x8xf32>, %B: memref<8x4x6xf32>) {
  linalg.transpose ins(%A : memref<4x6x8xf32>) outs(%B : memref<8x4x6xf32>) permutation = [2, 0, 1]
  return
}
// -----
func.func @broadcast(%A: memref<6xf32>, %B: memref<4x6x5xf32>) {
  linalg.broadcast ins(%A : memref<6xf32>) outs(%B : memref<4x6x5xf32>) dimensions = [0, 2]
  return
}
// -----
func.func @reduce(%A: memref<4x6x8xf32>, %S: memref<4x8xf32>) {
  linalg.reduce { arith.addf } ins(%A : memref<4x6x8xf32>) outs(%S : memref<4x8xf32>) dimensions = [1]
  return
}
// -----
func.func @reduce_body(%A: memref<4x6xi32>, %S: memref<4xi32>) {
  linalg.reduce ins(%A : memref<4x6xi32>) outs(%S : memref<4xi32>) dimensions = [1]
    (%in: i32, %init: i32) {
      %0 = arith.maxsi %in, %init : i32
      linalg.yield %0 : i32
    }
  return
}
// -----
func.func @map_short(%A: memref<64xf32>, %B: memref<64xf32>, %C: memref<64xf32>) {
  linalg.map { arith.addf } ins(%A, %B : memref<64xf32>, memref<64xf32>) outs(%C : memref<64xf32>)
  return
}
// -----
func.func @map_body(%A: memref<64xf32>, %C: memref<64xf32>) {
  linalg.map ins(%A : memref<64xf32>) outs(%C : memref<64xf32>)
    (%in: f32, %out: f32) {
      %0 = arith.mulf %in, %in : f32
      linalg.yield %0 : f32
    }
  return
}
// -----
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @bias_relu(%arg0: memref<4x8xf32>, %arg1: memref<8xf32>, %arg2: memref<4x8xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : memref<4x8xf32>, memref<8xf32>) outs(%arg2 : memref<4x8xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %0 = arith.addf %in, %in_0 : f32
      %1 = arith.maximumf %0, %cst : f32
      linalg.yield %1 : f32
    }
    return
  }
}
// -----
func.func @two_results(%A: memref<?x?xf32>, %S: memref<?xf32>, %M: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%A : memref<?x?xf32>) outs(%S, %M : memref<?xf32>, memref<?xf32>) {
  ^bb0(%a: f32, %s: f32, %m: f32):
    %0 = arith.addf %s, %a : f32
    %1 = arith.maximumf %m, %a : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}
// -----
func.func @indices(%O: memref<6x7xi32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%O : memref<6x7xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    %c = arith.index_cast %s : index to i32
    linalg.yield %c : i32
  }
  return
}
// -----
#trait = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], library_call = "mm"}
func.func @trait(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.generic #trait ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>) attrs = {name = "mm"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.mulf %a, %b : f32
    %e = arith.addf %c, %d : f32
    linalg.yield %e : f32
  }
  return
}
// -----
func.func @scalar_operand(%s: f32, %A: memref<8xf32>, %B: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%s, %A : f32, memref<8xf32>) outs(%B : memref<8xf32>) {
  ^bb0(%x: f32, %a: f32, %o: f32):
    %0 = arith.mulf %x, %a : f32
    linalg.yield %0 : f32
  }
  return
}
// -----
func.func @select_in_body(%A: memref<8xf32>, %B: memref<8xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%A : memref<8xf32>) outs(%B : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.cmpf ogt, %a, %cst : f32
    %1 = arith.select %0, %a, %cst : f32
    linalg.yield %1 : f32
  }
  return
}
// -----
func.func @contract(%A: memref<4x5xf32>, %B: memref<5x6xf32>, %C: memref<4x6xf32>) {
  linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%A, %B : memref<4x5xf32>, memref<5x6xf32>) outs(%C : memref<4x6xf32>)
  return
}
// -----
func.func @elementwise_kind(%A: memref<4x5xf32>, %B: memref<4x5xf32>, %C: memref<4x5xf32>) {
  linalg.elementwise kind=#linalg.elementwise_kind<sub> ins(%A, %B : memref<4x5xf32>, memref<4x5xf32>) outs(%C : memref<4x5xf32>)
  return
}
