"""What the programs run on: server, processes, the wire."""
