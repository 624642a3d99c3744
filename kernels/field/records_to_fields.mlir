// From records of four numbers to four arrays.
func.func @records_to_fields(%n: index, %record: memref<?x4xf32>, %x: memref<?xf32>,
                             %y: memref<?xf32>, %z: memref<?xf32>, %w: memref<?xf32>) {
  affine.for %i = 0 to %n {
    // x[i] = record[i, 0]
    %0 = affine.load %record[%i, 0] : memref<?x4xf32>
    affine.store %0, %x[%i] : memref<?xf32>
    // y[i] = record[i, 1]
    %1 = affine.load %record[%i, 1] : memref<?x4xf32>
    affine.store %1, %y[%i] : memref<?xf32>
    // z[i] = record[i, 2]
    %2 = affine.load %record[%i, 2] : memref<?x4xf32>
    affine.store %2, %z[%i] : memref<?xf32>
    // w[i] = record[i, 3]
    %3 = affine.load %record[%i, 3] : memref<?x4xf32>
    affine.store %3, %w[%i] : memref<?xf32>
  }
  return
}
