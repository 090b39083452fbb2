"""What happens to every request on its way out and every response on its way in, one class a file."""
