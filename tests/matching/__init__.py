"""What is read from matches."""
