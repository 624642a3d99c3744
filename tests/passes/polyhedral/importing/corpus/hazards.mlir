func.func @read_after_write(%A: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = tensor.empty() : tensor<8xf32>
  %1 = linalg.exp ins(%A : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %2 = linalg.add ins(%1, %A : tensor<8xf32>, tensor<8xf32>) outs(%1 : tensor<8xf32>) -> tensor<8xf32>
  %3 = linalg.mul ins(%2, %1 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}
// -----
func.func @overlapping_slices(%A: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tensor.empty() : tensor<8xf32>
  %1 = linalg.copy ins(%A : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %s = tensor.extract_slice %1[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %t = tensor.extract_slice %1[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %u = linalg.exp ins(%s : tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  %v = linalg.add ins(%u, %t : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %2 = tensor.insert_slice %v into %1[3] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %3 = tensor.insert_slice %s into %2[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %3 : tensor<8xf32>
}
// -----
// by hand
func.func @swapped_in_a_loop(%A: tensor<8xf32>, %B: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %A, %y = %B) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.yield %y, %x : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}
// -----
func.func @outer_in_a_loop(%A: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<8xf32>
  %b = linalg.exp ins(%A : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %b) -> (tensor<8xf32>) {
    %0 = linalg.add ins(%x, %b : tensor<8xf32>, tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  return %r, %b : tensor<8xf32>, tensor<8xf32>
}
// -----
func.func @returned_twice(%A: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %b = linalg.exp ins(%A : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %b, %b, %A : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
// -----
func.func @reduction_into_itself(%A: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %b = linalg.copy ins(%A : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%b, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.transpose ins(%0 : tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) permutation = [1, 0]
  return %1 : tensor<4x4xf32>
}
// -----
func.func @branch_after_use(%A: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8xf32>
  %b = linalg.exp ins(%A : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = arith.cmpi sle, %n, %c4 : index
  %r = scf.if %c -> (tensor<8xf32>) {
    %0 = linalg.mul ins(%b, %A : tensor<8xf32>, tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  } else {
    scf.yield %b : tensor<8xf32>
  }
  return %r, %b : tensor<8xf32>, tensor<8xf32>
}
// -----
func.func @view_then_write(%A: tensor<4x6xf32>) -> (tensor<24xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %b = linalg.exp ins(%A : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = tensor.collapse_shape %b [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %w = linalg.negf ins(%v : tensor<24xf32>) outs(%v : tensor<24xf32>) -> tensor<24xf32>
  return %w, %b : tensor<24xf32>, tensor<4x6xf32>
}
