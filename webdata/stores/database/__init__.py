"""The databases: connections, migrations, prepared statements, one commit for a group of operations."""
