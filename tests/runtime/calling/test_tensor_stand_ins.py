"""Tensors of torch without memory of their own."""

from __future__ import annotations

import pytest
import torch

import loopwright


def test_stand_ins_for_tensors_are_refused() -> None:
    """Tensors inside of torch's transformations, and nested ones, have no memory of their own."""
    text = """func.func @f(%A: memref<4xf32>) {
      affine.for %i = 0 to 4 {
        %x = affine.load %A[%i] : memref<4xf32>
        %y = arith.addf %x, %x : f32
        affine.store %y, %A[%i] : memref<4xf32>
      }
      return
    }"""
    kernel = loopwright.load(text)["f"].compile("", threads=1)

    def through(tensor: torch.Tensor) -> torch.Tensor:
        kernel(tensor)
        return tensor.sum()

    for _ in range(2):  # before and after a tensor with memory has been seen
        for use in (torch.vmap(through), torch.func.grad(lambda each: through(each[0]))):
            with pytest.raises(loopwright.errors.ArgumentValueError, match="argument 1 'A'"):
                use(torch.ones(3, 4))
        with pytest.raises(loopwright.errors.ArgumentValueError, match="argument 1 'A'"):
            kernel(torch.nested.nested_tensor([torch.ones(4)]))
        kernel(torch.ones(4))
