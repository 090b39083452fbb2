"""What operators watch: metrics and logs."""
