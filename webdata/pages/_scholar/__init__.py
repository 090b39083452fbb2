"""What the pages of scholarly works have in common."""
