"""Where state is kept, behind the interfaces of `webdata.stores.interfaces`."""
