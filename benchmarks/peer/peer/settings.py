"""Settings of the peer: as quiet and as wide open as it gets."""

BOT_NAME = "peer"
SPIDER_MODULES = ["peer.spider"]
CONCURRENT_REQUESTS = 64
CONCURRENT_REQUESTS_PER_DOMAIN = 64
LOG_LEVEL = "ERROR"
TELNETCONSOLE_ENABLED = False
