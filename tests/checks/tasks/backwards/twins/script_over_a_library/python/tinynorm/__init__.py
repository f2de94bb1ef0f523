from .inner import moments
