"""Replays of human-labelled solutions, as if their labels were bought in some order: what does the order pay?

Plain arrays; the scorer that learns comes in through `Learner`.
"""
