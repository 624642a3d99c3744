"""Kernels of PolyBench's linear algebra as Python functions, with the names of the texts."""

from __future__ import annotations

import math

import loopwright
from loopwright import f64


@loopwright.kernel
def kernel_2mm(
    ni: int,
    nj: int,
    nk: int,
    nl: int,
    alpha: f64,
    beta: f64,
    tmp: f64["ni", "nj"],
    A: f64["ni", "nk"],
    B: f64["nk", "nj"],
    C: f64["nj", "nl"],
    D: f64["ni", "nl"],
):
    for i in range(ni):
        for j in range(nj):
            tmp[i, j] = 0.0
            for k in range(nk):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(ni):
        for j in range(nl):
            D[i, j] *= beta
            for k in range(nj):
                D[i, j] += tmp[i, k] * C[k, j]


@loopwright.kernel
def kernel_3mm(
    ni: int,
    nj: int,
    nk: int,
    nl: int,
    nm: int,
    E: f64["ni", "nj"],
    A: f64["ni", "nk"],
    B: f64["nk", "nj"],
    F: f64["nj", "nl"],
    C: f64["nj", "nm"],
    D: f64["nm", "nl"],
    G: f64["ni", "nl"],
):
    for i in range(ni):
        for j in range(nj):
            E[i, j] = 0.0
            for k in range(nk):
                E[i, j] += A[i, k] * B[k, j]
    for i in range(nj):
        for j in range(nl):
            F[i, j] = 0.0
            for k in range(nm):
                F[i, j] += C[i, k] * D[k, j]
    for i in range(ni):
        for j in range(nl):
            G[i, j] = 0.0
            for k in range(nj):
                G[i, j] += E[i, k] * F[k, j]


@loopwright.kernel
def bicg(m: int, n: int, A: f64["n", "m"], s: f64["m"], q: f64["n"], p: f64["m"], r: f64["n"]):
    for i in range(m):
        s[i] = 0.0
    for i in range(n):
        q[i] = 0.0
        for j in range(m):
            s[j] = s[j] + r[i] * A[i, j]
            q[i] = q[i] + A[i, j] * p[j]


@loopwright.kernel
def doitgen(
    nr: int,
    nq: int,
    np: int,
    A: f64["nr", "nq", "np"],
    C4: f64["np", "np"],
    sum: f64["np"],
):
    for r in range(nr):
        for q in range(nq):
            for p in range(np):
                sum[p] = 0.0
                for s in range(np):
                    sum[p] += A[r, q, s] * C4[s, p]
            for p in range(np):
                A[r, q, p] = sum[p]


@loopwright.kernel
def gemver(
    n: int,
    alpha: f64,
    beta: f64,
    A: f64["n", "n"],
    u1: f64["n"],
    v1: f64["n"],
    u2: f64["n"],
    v2: f64["n"],
    w: f64["n"],
    x: f64["n"],
    y: f64["n"],
    z: f64["n"],
):
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * A[j, i] * y[j]
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * A[i, j] * x[j]


@loopwright.kernel
def gesummv(
    n: int,
    alpha: f64,
    beta: f64,
    A: f64["n", "n"],
    B: f64["n", "n"],
    tmp: f64["n"],
    x: f64["n"],
    y: f64["n"],
):
    for i in range(n):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(n):
            tmp[i] = A[i, j] * x[j] + tmp[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]


@loopwright.kernel
def gramschmidt(m: int, n: int, A: f64["m", "n"], R: f64["n", "n"], Q: f64["m", "n"]):
    for k in range(n):
        nrm = 0.0
        for i in range(m):
            nrm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(nrm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]


@loopwright.kernel
def ludcmp(n: int, A: f64["n", "n"], b: f64["n"], x: f64["n"], y: f64["n"]):
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, n):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]


@loopwright.kernel
def syr2k(
    n: int,
    m: int,
    alpha: f64,
    beta: f64,
    C: f64["n", "n"],
    A: f64["n", "m"],
    B: f64["n", "m"],
):
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]
