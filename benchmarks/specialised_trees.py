"""What makes expected rewards fast: specialised trees, the compiled walk, or both; and what ONNX Runtime does.

Work: q of three stakeholders for 3 actions × 3 outcomes in simulated loans, forests of 150 trees with at most ten
levels (``--unlimited``: no limit), one thread. ONNX Runtime takes part if ``onnxruntime`` and ``skl2onnx`` can be
imported. Every way must give the same rewards; how far it is off is printed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree._tree import Tree
from threadpoolctl import threadpool_limits

from accordant.cases.files import read_case
from accordant.cases.loaders import simulate
from accordant.learning.reward_models import LearnedReward
from accordant.learning.trees.ensemble import read_ensemble
from accordant.learning.trees.sums import TreeSums
from accordant.learning.trees.traversal import CHILD_BITS, CHILD_MASK, COLUMN_BITS, TO_RANK
from benchmarks.recommendation import MODELS, fitted_policy

ROWS, N_ACTIONS, N_OUTCOMES = 4_096, 3, 3
N_CELLS = N_ACTIONS * N_OUTCOMES


def constants(n_free: int) -> np.ndarray:
    """Return the one-hot columns of each action with each outcome; NaN for contexts."""
    action, outcome = np.divmod(np.arange(N_CELLS), N_OUTCOMES)
    return np.hstack([np.full((N_CELLS, n_free), np.nan), np.eye(N_ACTIONS)[action], np.eye(N_OUTCOMES)[outcome]])


def copies(rows: np.ndarray) -> np.ndarray:
    """Return each context once for every cell, shape (cell · context, column)."""
    n_rows, n_free = rows.shape
    return np.hstack([np.tile(rows, (N_CELLS, 1)), np.repeat(constants(n_free)[:, n_free:], n_rows, axis=0)])


def scikit_learn_trees(sums: TreeSums) -> list[list[Tree]]:
    """Return the specialised trees as scikit-learn's own, cell by cell."""
    roots = sums.trees.roots.ravel().astype(np.int64)
    ends = np.append(roots[1:], len(sums.trees.nodes))
    made = [_tree(sums, root, end) for root, end in zip(roots, ends, strict=True)]
    n_trees = sums.trees.roots.shape[1]
    return [made[cell * n_trees : (cell + 1) * n_trees] for cell in range(N_CELLS)]


def _tree(sums: TreeSums, root: int, end: int) -> Tree:
    trees, packed, own = sums.trees, sums.trees.nodes[root:end], np.arange(end - root)
    left = (packed & CHILD_MASK).astype(np.int64) - root
    leaf = left == own
    column = ((packed >> np.uint64(CHILD_BITS)) & np.uint64((1 << COLUMN_BITS) - 1)).astype(np.int64)
    place = np.where(leaf, 0, trees.ends[column] + (packed >> TO_RANK).astype(np.int64))
    tree = Tree(len(trees.free), np.array([1]), 1)
    state = tree.__getstate__()
    nodes = np.zeros(len(own), dtype=state["nodes"].dtype)
    nodes["left_child"], nodes["right_child"] = np.where(leaf, -1, left), np.where(leaf, -1, left + 1)
    nodes["feature"], nodes["threshold"] = column, trees.thresholds[place]
    values = trees.values[root:end].reshape(-1, 1, 1).copy()
    tree.__setstate__(state | {"max_depth": 99, "node_count": len(own), "nodes": nodes, "values": values})
    return tree


def by_scikit_learn_trees(cells: Sequence[Sequence[Tree]], rows: np.ndarray) -> np.ndarray:
    """Return the mean over each cell's trees, shape (cell, context)."""
    single = rows.astype(np.float32)
    return np.stack([sum(tree.predict(single)[:, 0] for tree in trees) / len(trees) for trees in cells])


def onnx_session(forest: RandomForestRegressor) -> Any:
    """Return the forest in ONNX Runtime, on one thread."""
    import onnxruntime
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType

    given = [("rows", FloatTensorType([None, forest.n_features_in_]))]
    converted = skl2onnx.convert_sklearn(forest, initial_types=given)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(converted.SerializeToString(), options, ["CPUExecutionProvider"])


def main() -> None:
    """Print microseconds per context for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unlimited", action="store_true")
    models = MODELS["forests without limit" if parser.parse_args().unlimited else "forests of 10 levels"]
    contexts = simulate(read_case("lending-published")[0], 1, ROWS, {}).log.contexts
    forests, rows = [], []
    for model in fitted_policy(models).reward_models_:
        assert isinstance(model, LearnedReward)
        forests.append(model.regressor)
        rows.append(model.encoder(contexts))
    whole = [TreeSums.of(read_ensemble(forest)) for forest in forests]
    started = time.perf_counter()
    special = [
        TreeSums.of(read_ensemble(forest), constants(x.shape[1])) for forest, x in zip(forests, rows, strict=True)
    ]
    print(f"reading and specialising three forests: {1000 * (time.perf_counter() - started):.0f} ms")
    sizes = [np.mean([tree.tree_.n_leaves for tree in forest.estimators_]) for forest in forests]
    left = [(len(each.trees.nodes) / each.trees.roots.size + 1) / 2 for each in special]
    print(f"leaves per tree: {np.mean(sizes):.0f} in the forest, {np.mean(left):.0f} specialised")
    ways: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
        "scikit-learn, whole trees": lambda x, k: forests[k].predict(copies(x)).reshape(N_CELLS, -1),
        "compiled walk, whole trees": lambda x, k: whole[k](copies(x), threads=1).reshape(N_CELLS, -1),
        "compiled walk, specialised": lambda x, k: special[k](x, threads=1)[:, 0],
    }
    trees = [scikit_learn_trees(each) for each in special]
    ways["scikit-learn, specialised"] = lambda x, k: by_scikit_learn_trees(trees[k], x)
    if find_spec("onnxruntime") and find_spec("skl2onnx"):
        sessions = [onnx_session(forest) for forest in forests]
        ways["ONNX Runtime, whole trees"] = lambda x, k: np.asarray(
            sessions[k].run(None, {"rows": copies(x).astype(np.float32)})[0]
        ).reshape(N_CELLS, -1)
    expected = [ways["scikit-learn, whole trees"](x, k) for k, x in enumerate(rows)]
    with threadpool_limits(1):
        for name, way in ways.items():
            batch = _least(lambda way=way: [way(x, k) for k, x in enumerate(rows)], 3) / ROWS
            alone = _least(lambda way=way: [way(x[:1], k) for k, x in enumerate(rows)], 20)
            difference = max(np.abs(way(x, k) - expected[k]).max() for k, x in enumerate(rows))
            print(f"{name:28} {1e6 * batch:7.1f} µs CPU a context, {1e6 * alone:8.0f} alone; off by {difference:.0e}")


def _least(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
