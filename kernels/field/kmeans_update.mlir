// The mean of the points with each label, found by comparing labels.
func.func @kmeans_update(%points: index, %centres: index, %features: index, %x: memref<?x?xf32>,
                         %label: memref<?xi32>, %count: memref<?xf32>, %mean: memref<?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  %c1 = arith.constant 1.0 : f32
  affine.for %c = 0 to %centres {
    // count[c] = 0.0
    affine.store %c0, %count[%c] : memref<?xf32>
    affine.for %k = 0 to %features {
      // mean[c, k] = 0.0
      affine.store %c0, %mean[%c, %k] : memref<?x?xf32>
    }
  }
  affine.for %i = 0 to %points {
    affine.for %c = 0 to %centres {
      // member = where(label[i] == i32(c), f32(1.0), 0.0)
      %0 = affine.load %label[%i] : memref<?xi32>
      %1 = arith.index_cast %c : index to i32
      %2 = arith.cmpi eq, %0, %1 : i32
      %3 = arith.select %2, %c1, %c0 : f32
      // count[c] += member
      %4 = affine.load %count[%c] : memref<?xf32>
      %5 = arith.addf %4, %3 : f32
      affine.store %5, %count[%c] : memref<?xf32>
      affine.for %k = 0 to %features {
        // mean[c, k] += member * x[i, k]
        %6 = affine.load %mean[%c, %k] : memref<?x?xf32>
        %7 = affine.load %x[%i, %k] : memref<?x?xf32>
        %8 = arith.mulf %3, %7 : f32
        %9 = arith.addf %6, %8 : f32
        affine.store %9, %mean[%c, %k] : memref<?x?xf32>
      }
    }
  }
  affine.for %c = 0 to %centres {
    affine.for %k = 0 to %features {
      // mean[c, k] = mean[c, k] / max(count[c], 1.0)
      %10 = affine.load %mean[%c, %k] : memref<?x?xf32>
      %11 = affine.load %count[%c] : memref<?xf32>
      %12 = arith.maximumf %11, %c1 : f32
      %13 = arith.divf %10, %12 : f32
      affine.store %13, %mean[%c, %k] : memref<?x?xf32>
    }
  }
  return
}
