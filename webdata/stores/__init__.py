"""Stores of state, behind the interfaces of `webdata.stores.interfaces`."""
