"""What people and programs meet: the API, the gateway, the dashboard, the commands."""
