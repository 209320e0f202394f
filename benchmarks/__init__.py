"""What Pygent costs, beside a floor that does the same work with nothing around it.

``python -m benchmarks`` measures, prints a table and draws a plot; nothing here passes or fails.
"""
