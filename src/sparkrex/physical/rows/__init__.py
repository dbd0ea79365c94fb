"""Matchers for row patterns: the compiled program, the backtracking matcher and its plain twin, the interpreter."""
