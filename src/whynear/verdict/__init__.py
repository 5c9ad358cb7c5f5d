"""Verdicts on features by refitting: what none can replace, what can be spared, and how few suffice."""
