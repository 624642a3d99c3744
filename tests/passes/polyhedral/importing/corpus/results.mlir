func.func @returned(%A: memref<4x8xf32>) -> memref<4x8xf32> {
  %B = memref.alloc() : memref<4x8xf32>
  linalg.exp ins(%A : memref<4x8xf32>) outs(%B : memref<4x8xf32>)
  return %B : memref<4x8xf32>
}
// -----
func.func @returned_dynamic(%A: memref<?x?xf32>) -> memref<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x?xf32>
  %n = memref.dim %A, %c1 : memref<?x?xf32>
  %B = memref.alloc(%n, %m) {alignment = 64 : i64} : memref<?x?xf32>
  linalg.transpose ins(%A : memref<?x?xf32>) outs(%B : memref<?x?xf32>) permutation = [1, 0]
  return %B : memref<?x?xf32>
}
// -----
func.func @two_results(%A: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
  %B = memref.alloc() : memref<8xf32>
  %C = memref.alloc() : memref<8xf32>
  linalg.exp ins(%A : memref<8xf32>) outs(%B : memref<8xf32>)
  linalg.square ins(%A : memref<8xf32>) outs(%C : memref<8xf32>)
  return %B, %C : memref<8xf32>, memref<8xf32>
}
// -----
// by hand
func.func @argument_returned(%A: memref<8xf32>) -> memref<8xf32> {
  linalg.exp ins(%A : memref<8xf32>) outs(%A : memref<8xf32>)
  return %A : memref<8xf32>
}
// -----
func.func @result_of_call(%A: memref<8xf32>, %B: memref<8xf32>) {
  %0 = call @doubled(%A) : (memref<8xf32>) -> memref<8xf32>
  memref.copy %0, %B : memref<8xf32> to memref<8xf32>
  memref.dealloc %0 : memref<8xf32>
  return
}
func.func private @doubled(%A: memref<8xf32>) -> memref<8xf32> {
  %B = memref.alloc() : memref<8xf32>
  linalg.add ins(%A, %A : memref<8xf32>, memref<8xf32>) outs(%B : memref<8xf32>)
  return %B : memref<8xf32>
}
// -----
// by hand
func.func @scalar_and_array(%A: memref<8xf32>) -> (f32, memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %B = memref.alloc() : memref<8xf32>
  linalg.exp ins(%A : memref<8xf32>) outs(%B : memref<8xf32>)
  %0 = memref.load %B[%c0] : memref<8xf32>
  return %0, %B : f32, memref<8xf32>
}
