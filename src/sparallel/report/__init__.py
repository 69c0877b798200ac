"""What people read: the terminal's tables and plots, and the HTML report."""
