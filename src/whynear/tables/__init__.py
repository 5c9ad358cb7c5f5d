"""Tables from files: read strictly, their columns typed, split into features and a target."""
