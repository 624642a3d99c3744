"""A layer of a neural network on torch tensors: product, bias and relu in one kernel."""

from __future__ import annotations

import argparse

import torch

import loopwright

TEXT = """
func.func @layer(%batch: index, %in: index, %out: index, %x: memref<?x?xf32>, %w: memref<?x?xf32>,
                 %bias: memref<?xf32>, %y: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %b = 0 to %batch {
    affine.for %o = 0 to %out {
      %0 = affine.load %bias[%o] : memref<?xf32>
      affine.store %0, %y[%b, %o] : memref<?x?xf32>
    }
    affine.for %i = 0 to %in {
      affine.for %o = 0 to %out {
        %1 = affine.load %y[%b, %o] : memref<?x?xf32>
        %2 = affine.load %x[%b, %i] : memref<?x?xf32>
        %3 = affine.load %w[%i, %o] : memref<?x?xf32>
        %4 = arith.mulf %2, %3 : f32
        %5 = arith.addf %1, %4 : f32
        affine.store %5, %y[%b, %o] : memref<?x?xf32>
      }
    }
    affine.for %o = 0 to %out {
      %6 = affine.load %y[%b, %o] : memref<?x?xf32>
      %7 = arith.maximumf %6, %zero : f32
      affine.store %7, %y[%b, %o] : memref<?x?xf32>
    }
  }
  return
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256)
    size = parser.parse_args().size

    layer = loopwright.load(TEXT)["layer"].compile(fast_math=True)
    torch.manual_seed(0)
    x, w, bias = torch.randn(size, size), torch.randn(size, size), torch.randn(size)
    y = torch.empty(size, size)
    layer(size, size, size, x, w, bias, y)
    assert torch.allclose(y, torch.relu(x @ w + bias), rtol=1e-3, atol=1e-3)

    print(f"schedule: {layer.schedule or 'as written'}")
    print(layer.time(size, size, size, x, w, bias, y, budget=0.1))


if __name__ == "__main__":
    main()
