"""The sampler lab: many runs of a model under many settings, measured. Knows no page and no server."""
