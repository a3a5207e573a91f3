"""The IR of gnnc: what a model says at each level. A dialect imports xDSL only."""

# Imported as a top-level package, every class in here would exist twice, and no isinstance would hold.
if __name__ != "gnnc.dialects":
    raise ImportError(f"this package is gnnc.dialects, not {__name__}: write `import gnnc.dialects`")
