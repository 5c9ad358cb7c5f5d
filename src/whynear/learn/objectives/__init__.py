"""The papers' objectives as pure functions of their parameters: one file per paper, a loss with its gradient each."""
