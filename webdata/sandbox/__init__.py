"""The offline internet: a forward proxy on loopback that answers for every host that the spiders fetch from."""
