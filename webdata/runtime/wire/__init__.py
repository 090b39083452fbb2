"""HTTP/1 messages, content codings, kinds of media, listeners."""
