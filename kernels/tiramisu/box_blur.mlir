// The mean of 3 x 3 pixels, on a batch of images stored as planes.
func.func @box_blur(%batch: index, %channels: index, %width: index, %height: index,
                    %img: memref<?x?x?x?xf32>, %output: memref<?x?x?x?xf32>) {
  %nine = arith.constant 9.0 : f32
  affine.for %n = 0 to %batch {
    affine.for %c = 0 to %channels {
      affine.for %x = 1 to affine_map<()[s0] -> (s0 - 1)>()[%width] {
        affine.for %y = 1 to affine_map<()[s0] -> (s0 - 1)>()[%height] {
          // output[n][c][x][y] = (img[n][c][x+1][y-1] + img[n][c][x+1][y] + img[n][c][x+1][y+1] +
          //     img[n][c][x][y-1] + img[n][c][x][y] + img[n][c][x][y+1] + img[n][c][x-1][y-1] +
          //     img[n][c][x-1][y] + img[n][c][x-1][y+1]) / 9.0
          %0 = affine.load %img[%n, %c, %x + 1, %y - 1] : memref<?x?x?x?xf32>
          %1 = affine.load %img[%n, %c, %x + 1, %y] : memref<?x?x?x?xf32>
          %2 = arith.addf %0, %1 : f32
          %3 = affine.load %img[%n, %c, %x + 1, %y + 1] : memref<?x?x?x?xf32>
          %4 = arith.addf %2, %3 : f32
          %5 = affine.load %img[%n, %c, %x, %y - 1] : memref<?x?x?x?xf32>
          %6 = arith.addf %4, %5 : f32
          %7 = affine.load %img[%n, %c, %x, %y] : memref<?x?x?x?xf32>
          %8 = arith.addf %6, %7 : f32
          %9 = affine.load %img[%n, %c, %x, %y + 1] : memref<?x?x?x?xf32>
          %10 = arith.addf %8, %9 : f32
          %11 = affine.load %img[%n, %c, %x - 1, %y - 1] : memref<?x?x?x?xf32>
          %12 = arith.addf %10, %11 : f32
          %13 = affine.load %img[%n, %c, %x - 1, %y] : memref<?x?x?x?xf32>
          %14 = arith.addf %12, %13 : f32
          %15 = affine.load %img[%n, %c, %x - 1, %y + 1] : memref<?x?x?x?xf32>
          %16 = arith.addf %14, %15 : f32
          %17 = arith.divf %16, %nine : f32
          affine.store %17, %output[%n, %c, %x, %y] : memref<?x?x?x?xf32>
        }
      }
    }
  }
  return
}
