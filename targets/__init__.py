"""The targets: what runs a compiled model. A target never imports the front end."""

# Imported as a top-level package, every class in here would exist twice, and no isinstance would hold.
if __name__ != "gnnc.targets":
    raise ImportError(f"this package is gnnc.targets, not {__name__}: write `import gnnc.targets`")
