"""Settings of the peer: without logs, and with as many concurrent requests as in webdata."""

BOT_NAME = "peer"
SPIDER_MODULES = ["peer.spider"]
CONCURRENT_REQUESTS = 64
CONCURRENT_REQUESTS_PER_DOMAIN = 64
LOG_LEVEL = "ERROR"
TELNETCONSOLE_ENABLED = False
