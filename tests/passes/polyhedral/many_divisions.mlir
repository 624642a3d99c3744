// Through A, isl finds no last accesses in reasonable time: its dependences are memory-based.
func.func @f(%n: index, %m: index, %x: f32, %A: memref<?x?xf32>) {
  affine.for %j = 2 to %n {
    %1 = affine.load %A[((%j + 1) + 5), ((%j + 2) + 4)] : memref<?x?xf32>
    %2 = arith.constant 3.0 : f32
    %3 = math.ceil %2 : f32
    %4 = arith.addf %1, %3 : f32
    %5 = affine.load %A[((%j + 0) + 5), (%j + 4)] : memref<?x?xf32>
    %6 = arith.subf %4, %5 : f32
    %7 = affine.apply affine_map<(d0) -> (((d0 + 0) + 5))>(%j)
    %8 = affine.apply affine_map<(d0) -> ((d0 + 4))>(%j)
    %9 = affine.load %A[%7, %8] : memref<?x?xf32>
    %10 = arith.addf %6, %9 : f32
    %11 = affine.apply affine_map<(d0) -> (((d0 + 0) + 5))>(%j)
    %12 = affine.apply affine_map<(d0) -> ((d0 + 4))>(%j)
    %13 = affine.load %A[%11, %12] : memref<?x?xf32>
    %14 = arith.maximumf %10, %13 : f32
    affine.store %14, %A[((%j + 0) + 5), (%j + 4)] : memref<?x?xf32>
  }
  affine.for %j_14 = 1 to min affine_map<()[s0] -> (4, (s0 + 2))>()[%n] {
    affine.for %l = 0 to %n {
      %15 = affine.apply affine_map<(d0) -> ((d0 + 5))>(%j_14)
      %16 = affine.apply affine_map<(d0) -> ((d0 + 4))>(%l)
      %17 = affine.load %A[%15, %16] : memref<?x?xf32>
      %18 = math.absf %17 : f32
      %19 = affine.apply affine_map<(d0) -> ((d0 + 5))>(%j_14)
      %20 = affine.apply affine_map<(d0) -> ((d0 + 4))>(%l)
      %21 = affine.load %A[%19, %20] : memref<?x?xf32>
      %22 = affine.load %A[(%l + 5), (%j_14 + 4)] : memref<?x?xf32>
      %23 = arith.addf %21, %22 : f32
      %24 = arith.addf %18, %23 : f32
      %25 = affine.load %A[((%j_14 + 1) + 5), ((%l + -2) + 4)] : memref<?x?xf32>
      %26 = arith.maximumf %24, %25 : f32
      affine.store %26, %A[((%j_14 + 1) + 5), ((%l + -2) + 4)] : memref<?x?xf32>
    }
    %27 = affine.load %A[(%j_14 + 5), ((%j_14 + -2) + 4)] : memref<?x?xf32>
    %28 = affine.load %A[(%j_14 + 5), (%j_14 + 4)] : memref<?x?xf32>
    %29 = arith.constant -1.0 : f32
    %30 = affine.apply affine_map<(d0) -> ((d0 + 5))>(%j_14)
    %31 = affine.apply affine_map<(d0) -> ((((d0 + 3) floordiv 2) + 4))>(%j_14)
    %32 = affine.load %A[%30, %31] : memref<?x?xf32>
    %33 = arith.cmpf one, %28, %x : f32
    %34 = arith.select %33, %29, %32 : f32
    %35 = arith.minimumf %27, %34 : f32
    affine.store %35, %A[(%j_14 + 5), ((%j_14 + -2) + 4)] : memref<?x?xf32>
  }
  affine.for %k = 0 to affine_map<()[s0] -> ((s0 floordiv 2))>()[%m] {
    affine.for %p = -3 to 4 {
      %36 = affine.apply affine_map<(d0) -> ((d0 + -1))>(%k)
      %37 = arith.index_cast %36 : index to i32
      %38 = arith.sitofp %37 : i32 to f32
      %39 = math.ceil %38 : f32
      %40 = arith.maximumf %x, %39 : f32
      %41 = affine.load %A[((%p + -2) + 5), (%k + 4)] : memref<?x?xf32>
      %42 = arith.subf %40, %41 : f32
      %43 = affine.load %A[(%k + 5), ((%p + 1) + 4)] : memref<?x?xf32>
      %44 = arith.addf %42, %43 : f32
      %45 = affine.load %A[((%k + 0) + 5), (((%p + 1) + 0) + 4)] : memref<?x?xf32>
      %46 = arith.maximumf %44, %45 : f32
      affine.store %46, %A[(%k + 5), ((%p + 1) + 4)] : memref<?x?xf32>
      affine.for %l_46 = -3 to 8 {
        %47 = affine.apply affine_map<(d0) -> ((d0 + 5))>(%p)
        %48 = affine.apply affine_map<(d0) -> (((d0 + 2) + 4))>(%l_46)
        %49 = memref.load %A[%47, %48] : memref<?x?xf32>
        %50 = affine.load %A[(%k + 5), ((%p + 1) + 4)] : memref<?x?xf32>
        %51 = arith.maxnumf %49, %50 : f32
        %52 = affine.load %A[(((%l_46 + 1) + 0) + 5), (((%k + 1) mod 4) + 4)] : memref<?x?xf32>
        %53 = arith.minimumf %51, %52 : f32
        %54 = affine.apply affine_map<(d0) -> (((d0 + 1) + 5))>(%l_46)
        %55 = affine.apply affine_map<(d0) -> ((((d0 + 1) mod 4) + 4))>(%k)
        affine.store %53, %A[%54, %55] : memref<?x?xf32>
        affine.for %i = -2 to affine_map<()[s0] -> ((s0 + -1))>()[%m] step 3 {
          %56 = affine.apply affine_map<(d0, d1) -> ((d0 + (d1 * 1)))>(%p, %i)
          %57 = arith.index_cast %56 : index to i32
          %58 = arith.sitofp %57 : i32 to f32
          affine.store %58, %A[(%l_46 + 5), (%i + 4)] : memref<?x?xf32>
        }
      }
      %59 = affine.load %A[((%k + 1) + 5), (%p + 4)] : memref<?x?xf32>
      %60 = affine.apply affine_map<(d0) -> (((d0 + -2) + 5))>(%k)
      %61 = affine.apply affine_map<(d0) -> ((d0 + 4))>(%p)
      %62 = affine.load %A[%60, %61] : memref<?x?xf32>
      %63 = arith.constant 1.0 : f32
      %64 = arith.addf %62, %63 : f32
      %65 = affine.apply affine_map<(d0) -> (((d0 + -1) + 5))>(%k)
      %66 = affine.apply affine_map<(d0) -> (((d0 + 0) + 4))>(%p)
      %67 = affine.load %A[%65, %66] : memref<?x?xf32>
      %68 = affine.load %A[(%k + 5), (%p + 4)] : memref<?x?xf32>
      %69 = affine.load %A[(%k + 5), ((%p + -1) + 4)] : memref<?x?xf32>
      %70 = arith.cmpf olt, %64, %67 : f32
      %71 = arith.select %70, %68, %69 : f32
      %72 = arith.addf %59, %71 : f32
      affine.store %72, %A[((%k + 1) + 5), (%p + 4)] : memref<?x?xf32>
    }
    affine.if affine_set<(d0) : ((d0 mod 2) == 0)>(%k) {
      %73 = affine.load %A[(%k + 5), (%k + 4)] : memref<?x?xf32>
      %74 = affine.apply affine_map<(d0) -> (d0)>(%k)
      %75 = arith.index_cast %74 : index to i32
      %76 = arith.sitofp %75 : i32 to f32
      %77 = affine.load %A[((%k + (%k * -2)) + 5), (%k + 4)] : memref<?x?xf32>
      %78 = affine.load %A[(((%k + 2) mod 2) + 5), (%k + 4)] : memref<?x?xf32>
      %79 = arith.maximumf %77, %78 : f32
      %80 = arith.minimumf %76, %79 : f32
      %81 = arith.minimumf %73, %80 : f32
      affine.store %81, %A[(%k + 5), (%k + 4)] : memref<?x?xf32>
    }
  }
  return
}
