// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

// CHECK-LABEL: func.func @scalars
func.func @scalars(%i: i32, %l: i64, %n: index, %x: f64, %y: f32, %c: i1) {
  // CHECK-NEXT: %0 = arith.addi %i, %i overflow<nsw> : i32
  %0 = arith.addi %i, %i overflow<nsw> : i32
  // CHECK-NEXT: %1 = arith.floordivsi %i, %i : i32
  %1 = arith.floordivsi %i, %i : i32
  // CHECK-NEXT: %2 = arith.mulf %x, %x fastmath<reassoc,contract> {tag} : f64
  %2 = arith.mulf %x, %x fastmath<reassoc,contract> {tag} : f64
  // CHECK-NEXT: %3 = arith.remf %x, %x : f64
  %3 = arith.remf %x, %x : f64
  // CHECK-NEXT: %4 = arith.cmpi slt, %n, %n {tag} : index
  %4 = arith.cmpi slt, %n, %n {tag} : index
  // CHECK-NEXT: %5 = arith.cmpf une, %x, %x fastmath<nnan> {tag} : f64
  %5 = arith.cmpf une, %x, %x fastmath<nnan> {tag} : f64
  // CHECK-NEXT: %6 = arith.select %c, %x, %x {tag} : f64
  %6 = arith.select %c, %x, %x {tag} : f64
  // CHECK-NEXT: %7 = arith.index_cast %i : i32 to index
  %7 = arith.index_cast %i : i32 to index
  // CHECK-NEXT: %8 = arith.extsi %i {tag} : i32 to i64
  %8 = arith.extsi %i {tag} : i32 to i64
  // CHECK-NEXT: %9 = arith.trunci %l : i64 to i32
  %9 = arith.trunci %l : i64 to i32
  // CHECK-NEXT: %10 = arith.sitofp %i : i32 to f64
  %10 = arith.sitofp %i : i32 to f64
  // CHECK-NEXT: %11 = arith.fptosi %x : f64 to i32
  %11 = arith.fptosi %x : f64 to i32
  // CHECK-NEXT: %12 = arith.extf %y : f32 to f64
  %12 = arith.extf %y : f32 to f64
  // Older versions of MLIR print these two as arith.maxf and arith.minf.
  // CHECK-NEXT: %13 = arith.maximumf %x, %x : f64
  %13 = arith.maxf %x, %x : f64
  // CHECK-NEXT: %14 = arith.minimumf %x, %x : f64
  %14 = arith.minf %x, %x : f64
  // CHECK-NEXT: %15 = math.sqrt %x : f64
  %15 = math.sqrt %x : f64
  // CHECK-NEXT: %16 = math.powf %x, %x fastmath<fast> : f64
  %16 = math.powf %x, %x fastmath<fast> : f64
  // CHECK-NEXT: %17 = math.fma %x, %x, %x : f64
  %17 = math.fma %x, %x, %x : f64
  // CHECK-NEXT: %18 = math.fpowi %x, %i : f64, i32
  %18 = math.fpowi %x, %i : f64, i32
  // CHECK-NEXT: %19 = math.erfc %x fastmath<afn> : f64
  %19 = math.erfc %x fastmath<afn> : f64
  // CHECK-NEXT: %true = arith.constant true
  %true = arith.constant true
  // CHECK-NEXT: %c34_i32 = arith.constant {"code-line" = 7 : i32} 34 : i32
  %c34_i32 = arith.constant {"code-line" = 7 : i32} 34 : i32
  // CHECK-NEXT: %inf = arith.constant 0x7ff0000000000000 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  return
}

// CHECK-LABEL: func.func @vectors
func.func @vectors(%v: vector<8xf64>, %s: vector<8xf32>, %i: vector<8xi32>, %x: vector<8xindex>, %c: i1) {
  // CHECK-NEXT: %0 = arith.cmpf ogt, %v, %v : vector<8xf64>
  %0 = arith.cmpf ogt, %v, %v : vector<8xf64>
  // CHECK-NEXT: %1 = arith.select %0, %v, %v : vector<8xi1>, vector<8xf64>
  %1 = arith.select %0, %v, %v : vector<8xi1>, vector<8xf64>
  // CHECK-NEXT: %2 = arith.select %c, %v, %v : vector<8xf64>
  %2 = arith.select %c, %v, %v : vector<8xf64>
  // CHECK-NEXT: %3 = arith.sitofp %i : vector<8xi32> to vector<8xf32>
  %3 = arith.sitofp %i : vector<8xi32> to vector<8xf32>
  // CHECK-NEXT: %4 = arith.fptosi %s : vector<8xf32> to vector<8xi32>
  %4 = arith.fptosi %s : vector<8xf32> to vector<8xi32>
  // CHECK-NEXT: %5 = arith.index_cast %x : vector<8xindex> to vector<8xi64>
  %5 = arith.index_cast %x : vector<8xindex> to vector<8xi64>
  // CHECK-NEXT: %6 = arith.extui %i : vector<8xi32> to vector<8xi64>
  %6 = arith.extui %i : vector<8xi32> to vector<8xi64>
  // CHECK-NEXT: %7 = arith.trunci %i : vector<8xi32> to vector<8xi8>
  %7 = arith.trunci %i : vector<8xi32> to vector<8xi8>
  // CHECK-NEXT: %8 = math.exp %v : vector<8xf64>
  %8 = math.exp %v : vector<8xf64>
  return
}

// Before func.func there was func.
// CHECK-LABEL: func.func @old() {
func @old() {
  return
}
