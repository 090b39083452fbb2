"""Scrapy's settings. Every deviation from a default says the default and the reason."""

import os

from webdata.config import Config

_config = Config.from_environ(os.environ)

BOT_NAME = "webdata"
SPIDER_MODULES = ["webdata.spiders"]
NEWSPIDER_MODULE = "webdata.spiders"

# Ours: whether requests go to the sandbox, where it is, and what it answers from.
SANDBOX = _config.sandbox == "always"
SANDBOX_URL = _config.sandbox_url
SANDBOX_REPLAY = _config.sandbox_replay
# Ours: seconds that one query may take, all of its fetches together.
DEADLINE = _config.deadline
# Ours: where pages of a shape that no parser knows are kept; None keeps none.
KEPT_PAGES = _config.kept_pages
# Ours: what keeps the publishers' addresses behind news links (a LinkStore): a class, and what it is made with.
RESOLVED_LINKS = ("webdata.stores.sql.SqlLinks", _config.links_database)
# Ours: the same in the sandbox, whose links are invented.
SANDBOX_RESOLVED_LINKS = ("webdata.stores.memory.MemoryLinks",)
# Ours: the key for OpenAlex (None: without one), and a mail address for those who ask for one, as Crossref does.
OPENALEX_KEY = _config.openalex_key
CONTACT = _config.contact
# Ours: where a batch tells of queries without a record; %(output)s is its first output file without the suffix.
FAILURES_FEED = "%(output)s.failures.jsonl"

# Scrapy's `crawl` tells a mistake in the arguments as a traceback, with exit status 1.
COMMANDS_MODULE = "webdata.commands"
ADDONS = {"webdata.extensions.failures.FailuresFeed": 500}
EXTENSIONS = {
    "scrapy.extensions.feedexport.FeedExporter": None,  # ours resumes
    "webdata.extensions.feeds.JobFeedExporter": 0,
    "webdata.extensions.failures.Refusals": 500,
    "scrapy.extensions.logstats.LogStats": None,  # it knows pages, not queries
    "webdata.extensions.progress.Progress": 500,
    "scrapy.extensions.spiderstate.SpiderState": None,  # the journal in JOBDIR is all that a job keeps
}
FEED_EXPORTERS = {
    "jsonl": "webdata.extensions.exporters.JsonLinesExporter",
    "jsonlines": "webdata.extensions.exporters.JsonLinesExporter",
    "jl": "webdata.extensions.exporters.JsonLinesExporter",
    "rows": "webdata.extensions.exporters.RowsExporter",
}
# Scrapy's own keeps requests in JOBDIR, where a kill loses some and a resumed batch would run others twice.
SCHEDULER = "webdata.extensions.scheduler.MemoryScheduler"
# RFPDupeFilter: a query that a file gives twice is run twice, and nothing is to be remembered in JOBDIR.
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"
# 2083: a query of 2048 characters makes a longer URL when it is escaped, and would be dropped without a word.
URLLENGTH_LIMIT = 0
# DEBUG, which prints every record: a batch's log is to be read.
LOG_LEVEL = "INFO"
# Scrapy's own writes whole records into the log when one is refused.
LOG_FORMATTER = "webdata.extensions.log.QueryLogFormatter"
# Ours: what is different in batches, unless -s says otherwise. A site gets 16 requests at once from a batch (Scrapy: 8
# a site, 16 in all), not as many as the service's callers may send.
BATCH_SETTINGS = {"CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}
DOWNLOADER_MIDDLEWARES = {
    "webdata.downloadermiddlewares.device.DeviceMiddleware": 450,  # before the default user agent, 500
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,  # ours fetches no list of domains
    "webdata.downloadermiddlewares.cookies.ShippedSuffixesCookiesMiddleware": 700,
    "webdata.downloadermiddlewares.sandbox.SandboxMiddleware": 740,  # before the proxies, 750
    "webdata.downloadermiddlewares.deadline.DeadlineMiddleware": 840,  # last: nothing may take time after it
}
ITEM_PIPELINES = {
    "webdata.pipelines.envelope.EnvelopePipeline": 100,
    "webdata.pipelines.validate.ValidatePipeline": 200,
}

# 8 and 16: a warm crawler serves all calls of an engine at once, bounded by WEBDATA_MAX_CALLS.
CONCURRENT_REQUESTS_PER_DOMAIN = 64
CONCURRENT_REQUESTS = 64
# False: what goes out as a site's results must come from that site.
DOWNLOAD_VERIFY_CERTIFICATES = True
# 1024 MB: no page that we read is near this; it bounds what a hostile one can cost.
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024
# True: result pages carry a refresh for browsers without scripts, which is not to be followed.
METAREFRESH_ENABLED = False
# With 429: "too many requests" is a block to be told, not a fault to be repeated.
RETRY_HTTP_CODES = [500, 502, 503, 504, 522, 524, 408]
# With timeouts: a page that took the whole time leaves none for another try.
RETRY_EXCEPTIONS = [
    "scrapy.exceptions.CannotResolveHostError",
    "scrapy.exceptions.DownloadConnectionRefusedError",
    "scrapy.exceptions.DownloadFailedError",
    "scrapy.exceptions.ResponseDataLossError",
    "scrapy.core.downloader.handlers.http11.TunnelError",
    "twisted.internet.error.ConnectError",
    "twisted.internet.error.ConnectionDone",
    "twisted.internet.error.ConnectionLost",
    OSError,
]
# ERROR: giving up is told as the query's outcome.
RETRY_GIVE_UP_LOG_LEVEL = "INFO"
# False: an error page is judged by the spider, never just dropped.
HTTPERROR_ALLOW_ALL = True
# True: a console would be one more open port.
TELNETCONSOLE_ENABLED = False
# True: a port of every crawler that runs any Python it is sent, for whoever can read a file in the home folder.
REMOTE_CONTROL_ENABLED = False
# None, which escapes all but ASCII: a batch's line is the same JSON as the API's answer.
FEED_EXPORT_ENCODING = "utf-8"
