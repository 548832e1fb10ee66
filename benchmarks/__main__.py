"""Run every benchmark, one process each: ``python -m benchmarks``, which is ``make bench``.

Those that need real data read ``$ACCORDANT_DATA`` and are left out, aloud, without it.
"""

from __future__ import annotations

import os
import subprocess
import sys

ALWAYS = (
    ["benchmarks.installation"],
    ["benchmarks.rules", "--largest", "1e8"],
    ["benchmarks.voting"],
    ["benchmarks.population"],
    ["benchmarks.constraints", "--patience", "30"],
    ["benchmarks.certificates"],
    ["benchmarks.certificate_tightness"],
    ["benchmarks.paper_certificates"],
    ["benchmarks.recommendation"],
    ["benchmarks.plan"],
    ["benchmarks.specialised_trees"],
    ["benchmarks.bootstrap"],
    ["benchmarks.part_sums", "--runs", "40"],
    ["benchmarks.dataset_evaluation"],
    ["benchmarks.dataset_recommendation"],
    ["benchmarks.lending_run"],
    ["benchmarks.compute"],
    ["benchmarks.participation_cost"],
    ["benchmarks.consumption"],
    ["benchmarks.elicitation"],
    ["benchmarks.bradley_terry"],
    ["benchmarks.preference_costs"],
    ["benchmarks.preference_worlds"],
    ["benchmarks.allocation_search"],
    ["benchmarks.deliberation_directions"],
    ["benchmarks.slates"],
    ["benchmarks.monitoring", "--worlds", "40"],
    ["benchmarks.service"],
    ["benchmarks.service_faults"],
    ["benchmarks.service_memory", "--decisions", "200000"],
)
WITH_DATA = (
    ["benchmarks.learning_errors", "{data}", "--only", "lending 2015"],
    ["benchmarks.outcome_models", "{data}", "--only", "2015", "--seeds", "2"],
    ["benchmarks.outcome_models", "{data}", "--only", "2007", "--seeds", "1"],
    ["benchmarks.causal_models", "{data}/ihdp", "--families", "published"],
    ["benchmarks.certified_cases", "{data}"],
    ["benchmarks.preference_data", "{data}/preferences"],
    ["benchmarks.preference_drift", "{data}"],
    ["benchmarks.relevance", "{data}"],
)


def main() -> None:
    """Run the benchmarks and stop at the first that fails."""
    data = os.environ.get("ACCORDANT_DATA")
    for module, *arguments in (*ALWAYS, *(WITH_DATA if data else ())):
        command = [sys.executable, "-m", module, *(each.format(data=data) for each in arguments)]
        print(f"\n== python -m {' '.join(command[2:])}", flush=True)
        subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    if not data:
        print("\nleft out: the benchmarks on real data, which look for it below $ACCORDANT_DATA")


if __name__ == "__main__":
    main()
