"""Learning vector quantization: prototypes with one map, or a map each."""
