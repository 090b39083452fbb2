"""How bytes are got: plain HTTP, a browser's TLS, a browser; directly or through a proxy."""
