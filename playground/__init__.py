"""Watch a diffusion language model think: recipe → engine → events → log → socket → browser."""

__version__ = "0.1.0"
