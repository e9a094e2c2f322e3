"""Tests of the Python side: `python3 -m unittest` in the folder `python`."""
