"""Mutation testing: small changes to the code, each of which a test should notice.

    python -m tools.mutants reach            record which tests reach which lines
    python -m tools.mutants run              try mutants and write benchmarks/MUTANTS.md
    python -m tools.mutants sample           try a few known mutants on the tests that noticed them

``reach`` runs the quick suite once under coverage. ``run`` draws mutants from every package, tries each
on the tests that reach its line until one fails, and records which test that was. ``sample`` needs no
record of reached lines: it checks that the recorded tests still fail on the recorded mutants.
"""
