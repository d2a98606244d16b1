"""The official conformance suite and the official inspector against the real site; `.ci/conformance` runs them."""
