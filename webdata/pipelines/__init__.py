"""What happens to every record before it goes out, one verb a file."""
