"""The records of the resources, built from the answers of upstream APIs."""
