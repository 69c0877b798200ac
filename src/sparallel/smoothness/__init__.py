"""Why sparse training is slower: the gradient's smoothness and variance along training."""
