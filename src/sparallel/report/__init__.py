"""Results for people: `html` writes the page, `terminal` prints; import the one you need.

Nothing is imported here, because the page needs Plotly and the terminal should not wait for it.
"""
