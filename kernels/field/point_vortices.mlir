// The velocities that point vortices give each other: every pair but a vortex with itself.
func.func @point_vortices(%n: index, %x: memref<?xf64>, %y: memref<?xf64>,
                          %strength: memref<?xf64>, %u: memref<?xf64>, %v: memref<?xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.store %c0, %u[%i] : memref<?xf64>
    affine.store %c0, %v[%i] : memref<?xf64>
    affine.for %j = 0 to %n {
      affine.if affine_set<(d0, d1) : (d0 - d1 == 0)>(%i, %j) {
      } else {
        // dx = x[i] - x[j]
        %0 = affine.load %x[%i] : memref<?xf64>
        %1 = affine.load %x[%j] : memref<?xf64>
        %2 = arith.subf %0, %1 : f64
        // dy = y[i] - y[j]
        %3 = affine.load %y[%i] : memref<?xf64>
        %4 = affine.load %y[%j] : memref<?xf64>
        %5 = arith.subf %3, %4 : f64
        // w = strength[j] / (dx * dx + dy * dy)
        %6 = affine.load %strength[%j] : memref<?xf64>
        %7 = arith.mulf %2, %2 : f64
        %8 = arith.mulf %5, %5 : f64
        %9 = arith.addf %7, %8 : f64
        %10 = arith.divf %6, %9 : f64
        // u[i] = u[i] - w * dy
        %11 = affine.load %u[%i] : memref<?xf64>
        %12 = arith.mulf %10, %5 : f64
        %13 = arith.subf %11, %12 : f64
        affine.store %13, %u[%i] : memref<?xf64>
        // v[i] = v[i] + w * dx
        %14 = affine.load %v[%i] : memref<?xf64>
        %15 = arith.mulf %10, %2 : f64
        %16 = arith.addf %14, %15 : f64
        affine.store %16, %v[%i] : memref<?xf64>
      }
    }
  }
  return
}
