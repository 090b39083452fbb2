"""What the pages of any URL need beside their parser."""
